import { h } from '../dom.js';

/**
 * What stands in a cell; a list is a line each.
 */
type Cell = string | Node | readonly string[];

/**
 * Return a table; the first cell of each row names it.
 *
 * @param head - Of the columns.
 */
export function table(
  name: string,
  head: readonly Node[],
  rows: readonly (readonly [Cell, ...Cell[]])[]
): HTMLElement {
  const body = rows.map(([first, ...others]) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, ...nodes(first)),
      ...others.map(cell => h('td', { class: 'smtc-number' }, ...nodes(cell)))
    )
  );
  return h(
    'table',
    { class: name },
    h('thead', {}, h('tr', {}, ...head)),
    h('tbody', {}, ...body)
  );
}

/**
 * Return the head of a column.
 */
export function column(...words: readonly (string | Node)[]): HTMLElement {
  return h('th', { scope: 'col' }, ...words);
}

function nodes(cell: Cell): readonly (string | Node)[] {
  if (cell instanceof Node) {
    return [cell];
  }
  return typeof cell === 'string'
    ? [unbroken(cell)]
    : cell.map(line => h('div', {}, unbroken(line)));
}

/**
 * Return a text in which no line ends between a number and its per cent.
 */
function unbroken(text: string): string {
  return text.replaceAll(/(?<=\d) %/g, '\u00a0%');
}
