import { expect, it } from 'vitest';
import { folded, foldsOf, ownOf } from '../src/panel/folded.js';
import { nameWords } from '../src/panel/words.js';
import { row } from './kit.js';

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
