import { plainText } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { keyOf, type IColumn, type IPage, type ITableRow } from './page.js';
import { cellWords, titleOf } from './words.js';

/**
 * What the table is drawn from, beside its page.
 */
export interface IGridState {
  readonly sort: string;
  readonly chosen: ReadonlySet<string>;
  readonly onlyDiffering: boolean;
  readonly can: ReadonlySet<string>;
}

/**
 * Return the rows as a table. What is pressed in it has `data-at`, which is what to do and of
 * which row or column.
 */
export function grid(page: IPage, state: IGridState): HTMLElement {
  const columns = page.columns
    .map((column, place) => ({ column, place }))
    .filter(
      ({ column: { name } }) =>
        !state.onlyDiffering || name === 'name' || page.differing.has(name)
    );
  const all = page.rows.length;
  const numChosen = page.rows.filter(row =>
    state.chosen.has(keyOf(row))
  ).length;
  return h(
    'table',
    { class: 'smtc-runs-table' },
    h('caption', { class: 'smtc-sr' }, t('Runs')),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h(
          'td',
          {},
          h('input', {
            type: 'checkbox',
            'data-at': 'all:',
            'aria-label': t('Choose all rows shown'),
            checked: all > 0 && numChosen === all
          })
        ),
        ...columns.map(({ column }) => head(column, state.sort))
      )
    ),
    h(
      'tbody',
      {},
      ...page.rows.map(row =>
        h(
          'tr',
          { class: row.isLaunch ? 'smtc-launch' : null },
          h(
            'td',
            {},
            h('input', {
              type: 'checkbox',
              'data-at': `choose:${keyOf(row)}`,
              'aria-label': t('Choose %1', row.title || row.name),
              checked: state.chosen.has(keyOf(row))
            })
          ),
          ...columns.map(({ column, place }) =>
            column.name === 'name'
              ? h('th', { scope: 'row' }, ...nameNodes(row, state.can))
              : cell(row, column, place)
          )
        )
      )
    )
  );
}

function head(column: IColumn, sort: string): HTMLElement {
  const { name, kind } = column;
  const isUp = sort === name;
  const order = isUp ? 'ascending' : 'descending';
  return h(
    'th',
    {
      scope: 'col',
      class: kind === 'text' ? null : 'smtc-number',
      'aria-sort': isUp || sort === `-${name}` ? order : 'none'
    },
    h(
      'button',
      { type: 'button', 'data-at': `sort:${name}`, title: name },
      titleOf(column)
    )
  );
}

function cell(row: ITableRow, column: IColumn, place: number): HTMLElement {
  const value = row.cells[place] ?? null;
  const words = cellWords(value, column);
  const isCut = typeof value === 'string' && words.endsWith('…');
  return h(
    'td',
    {
      class: column.kind === 'text' ? null : 'smtc-number',
      title: isCut ? value : null
    },
    words
  );
}

/**
 * Return what a run is called: its title before its name; of a launch, what it launches.
 */
function nameNodes(
  row: ITableRow,
  can: ReadonlySet<string>
): readonly (Node | string)[] {
  const key = keyOf(row);
  const words = row.title || row.launch || row.name;
  const name =
    words === row.name ? null : h('span', { class: 'smtc-note' }, row.name);
  const isFolded = row.kind !== 'run' && can.has('unfold');
  return [
    isFolded
      ? h(
          'button',
          {
            type: 'button',
            class: 'smtc-fold',
            'data-at': `fold:${row.name}`,
            'aria-expanded': String(row.isOpen),
            'aria-label': t('Launches of %1', row.name)
          },
          row.isOpen ? '▾' : '▸'
        )
      : '',
    can.has('open')
      ? h(
          'button',
          { type: 'button', class: 'smtc-open', 'data-at': `open:${key}` },
          words
        )
      : plainText(words),
    ...(name === null ? [] : [' ', name])
  ];
}

/**
 * Return what says why there is no row.
 */
export function nothing({ total, root }: IPage): HTMLElement {
  return h(
    'p',
    { class: 'smtc-note', role: 'status' },
    total === 0
      ? t('There are no runs in %1 yet.', root)
      : t('No run is like this. Empty the filter to see all %1.', total)
  );
}

/**
 * Return the same control of the row so many further down; undefined: there is none.
 */
export function besideIn(
  table: HTMLElement,
  from: HTMLElement,
  step: number
): HTMLElement | undefined {
  const begin = from.dataset['at']?.replace(/:.*$/s, ':') ?? '-';
  const query = `tbody [data-at^="${begin}"]`;
  const all = [...table.querySelectorAll<HTMLElement>(query)];
  return all[all.indexOf(from) + step];
}
