import type { JsonObject } from '@smtc-lab/protocol';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import { ALL, type IAsked, type IPage, type ITableRow } from './page.js';

/**
 * Rows of a page, at most.
 */
export const COUNT = 200;

const LEAST_COMPARED = 2;
const MOST_COMPARED = 50;
const below = (): string => t('Shown below the table.');
const DONE: Readonly<Record<string, (count: number) => string>> = {
  open: below,
  compare: below,
  delete: count => t('%1 deleted, for good in a day.', count),
  undo: count => t('%1 put back.', count),
  annotate: count => t('%1 changed.', count)
};

/**
 * What can be done with chosen rows.
 */
export interface IActs {
  readonly compare: () => void;
  readonly annotate: () => void;
  readonly delete: () => void;
}

/**
 * Return how many rows are chosen, and the buttons for them.
 */
export function actionBar(
  rows: readonly ITableRow[],
  can: ReadonlySet<string>,
  acts: IActs
): readonly HTMLElement[] {
  const { length } = rows;
  const areRuns = length > 0 && rows.every(({ kind }) => kind === 'run');
  const fits = length >= LEAST_COMPARED && length <= MOST_COMPARED;
  const haveEnded = length > 0 && !rows.some(({ isLive }) => isLive);
  const offered = [
    ['compare', t('Compare'), areRuns && fits],
    ['annotate', t('Tags and note'), areRuns],
    ['delete', t('Delete'), haveEnded]
  ] as const;
  const buttons = offered
    .filter(([name]) => can.has(name))
    .map(([name, words, isOn]) =>
      button(words, acts[name], { disabled: !isOn, 'data-at': `do:${name}` })
    );
  return buttons.length === 0
    ? []
    : [h('span', { role: 'status' }, t('%1 chosen', length)), ...buttons];
}

/**
 * Return the buttons that say which columns and rows there are.
 */
export function optionBar(
  isDiffering: boolean,
  { launches }: IAsked,
  can: ReadonlySet<string>,
  toggle: () => void,
  ask: (change: Partial<IAsked>) => void
): readonly HTMLElement[] {
  const isAll = launches.includes(ALL);
  const options = { 'aria-pressed': String(isAll), 'data-at': 'do:launches' };
  return [
    button(t('Only what differs'), toggle, {
      'aria-pressed': String(isDiffering),
      'data-at': 'do:differing'
    }),
    ...(can.has('launches')
      ? [
          button(
            t('All launches'),
            () => {
              ask({ launches: isAll ? [] : [ALL] });
            },
            { ...options, title: t('Also those of calibrations and proofs') }
          )
        ]
      : [])
  ];
}

/**
 * Return which rows are shown, and the buttons that turn pages.
 */
export function pager(
  { first, found, rows }: IPage,
  canTurn: boolean,
  ask: (change: Partial<IAsked>) => void
): readonly HTMLElement[] {
  const shown = rows.filter(row => !row.isLaunch).length;
  const turn = (words: string, to: number, isOn: boolean): HTMLElement =>
    button(
      words,
      () => {
        ask({ first: to });
      },
      { disabled: !isOn, 'data-at': `do:${words}` }
    );
  const range = t('%1 to %2 of %3', first + 1, first + shown, found);
  return [
    h('span', { class: 'smtc-note' }, shown === 0 ? '' : range),
    ...(shown === found || !canTurn
      ? []
      : [
          turn(t('Before'), Math.max(0, first - COUNT), first > 0),
          turn(t('Next'), first + COUNT, first + shown < found)
        ])
  ];
}

/**
 * Return how the last thing went, with a button that undoes it where that can be.
 */
export function outcome(
  { type, done, problem, undo }: JsonObject,
  undoAll: (ids: readonly unknown[]) => void
): readonly HTMLElement[] {
  const count = Number(done);
  const ids = Array.isArray(undo) ? (undo as unknown[]) : [];
  const words = DONE[String(type)]?.(count) ?? '';
  const act = (): void => {
    undoAll(ids);
  };
  return [
    ...(count > 0 ? [h('span', {}, words)] : []),
    ...(ids.length > 0
      ? [button(t('Undo'), act, { 'data-at': 'do:undo' })]
      : []),
    ...(typeof problem === 'string' && problem !== ''
      ? [h('p', { class: 'smtc-problem' }, problem)]
      : [])
  ];
}
