import { expect, it } from 'vitest';
import { folded, foldsOf, ownOf, unfolded } from '../src/panel/folded.js';
import { RowView } from '../src/panel/row_view.js';
import { momentWords, nameWords, shortName } from '../src/panel/words.js';
import { row, TEXTS } from './kit.js';

const study = (state: string) =>
  row({ name: 'c', kind: 'comparison', state, newestRun: 'c-2' });
const LAUNCHES = [2, 1].map(round =>
  row({ name: `c-${round}`, kind: 'run', study: 'c', launch: 'fed', round })
);
const ALONE = row({ name: 'alone', kind: 'run' });

const names = (rows: readonly { readonly name: string }[]): string[] =>
  rows.map(({ name }) => name);

it('puts launches below their study while it goes on', () => {
  const rows = [...LAUNCHES, ALONE, study('InProgress')];

  expect(names(folded(rows, new Map()))).toEqual(['alone', 'c', 'c-2', 'c-1']);
});

it('folds the launches of a study that has ended, and says how many', () => {
  const rows = [...LAUNCHES, ALONE, study('Completed')];

  expect(names(folded(rows, new Map()))).toEqual(['alone', 'c']);
  expect(foldsOf(rows, new Map()).get('comparison/c')).toEqual({
    launches: 2,
    isOpen: false
  });
});

it('counts no launch of a study that is in the list', () => {
  const rows = [...LAUNCHES, ALONE, study('InProgress')];

  expect(names(ownOf(rows))).toEqual(['alone', 'c']);
  expect(ownOf(LAUNCHES)).toHaveLength(2);
});

it('keeps what the user has opened or shut', () => {
  const opened = new Map([['comparison/c', true]]);
  const shut = new Map([['comparison/c', false]]);

  expect(folded([study('Completed'), ...LAUNCHES], opened)).toHaveLength(3);
  expect(folded([study('InProgress'), ...LAUNCHES], shut)).toHaveLength(1);
});

it('puts launches below a study that has ended where one is looked for', () => {
  const rows = [...LAUNCHES, ALONE, study('Completed')];

  expect(names(unfolded(rows))).toEqual(['alone', 'c', 'c-2', 'c-1']);
});

it('hides no launch whose study is not in the list', () => {
  expect(folded(LAUNCHES, new Map())).toEqual(LAUNCHES);
});

it('calls a launch by what is launched and its round, and a run by its name', () => {
  expect(nameWords(row({ name: 'x-r2', launch: 'fed', round: 2 }))).toBe(
    'fed, round 2'
  );
  expect(nameWords(row({ launch: 'eager, parity', round: null }))).toBe(
    'eager, parity'
  );
  expect(nameWords(ALONE)).toBe('alone');
});

it('tells runs that begin alike by what differs, which is never cut', () => {
  const startedS = new Date(2026, 10, 26, 7, 13, 27).getTime() / 1000;
  const own = row({ name: 'train-comparison-1126-071327-123', startedS });

  expect(shortName(own)[0]).toBe('train-comparison');
  expect(momentWords(startedS, startedS + 60)).toBe(' 07:13:27');
  expect(momentWords(startedS, startedS + 86400)).toBe(' 2026-11-26 07:13');
  expect(
    shortName(row({ name: 'train-20261126-071327-123456', startedS }))[0]
  ).toBe('train');
  expect(shortName(row({ name: 'mine-2', startedS }))).toEqual(['mine-2', '']);
  expect(shortName(row({ launch: 'fed', round: 2 }))).toEqual([
    'fed',
    ', round 2'
  ]);
});

it('has the launches before what is cut, and all of it in the tooltip', () => {
  const view = new RowView(TEXTS);
  const reason = 'Rank 3 of algo-2 ended with exit code 1';

  view.show(row({ kind: 'comparison', state: 'Failed', reason }), 0, 1, false, {
    launches: 1,
    isOpen: false
  });

  expect(view.element.title.split('\n')).toEqual(
    expect.arrayContaining(['launches folded: 1', 'Comparison', reason])
  );
  expect(view.element.textContent).toContain('launches folded: 1 · Comparison');
});

it('shows the whole name in the tooltip, and to whoever hears it', () => {
  const view = new RowView(TEXTS);
  const name = 'train-comparison-1126-071327-123';

  view.show(row({ name, startedS: 1 }), 0, 1, false, null);

  expect(view.element.title).toContain(name);
  const spoken = [...view.element.querySelectorAll('span')].filter(
    part => part.closest('[aria-hidden]') === null && part.children.length === 0
  );
  expect(spoken.map(part => part.textContent)).toContain(name);
});
