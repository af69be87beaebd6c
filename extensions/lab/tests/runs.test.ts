import { describe, expect, it } from 'vitest';
import { Runs } from '../src/connection/runs.js';
import { SocketModel } from '../src/connection/socket_model.js';
import { filtered, isListed, type Show } from '../src/panel/filter.js';
import { progress, rowFacts, stateFacts } from '../src/panel/words.js';
import { row, TEXTS, wire } from './kit.js';

function list(): { runs: Runs; model: SocketModel } {
  const model = new SocketModel('runs', undefined, {
    begin: () => 1,
    end: () => undefined,
    send: () => undefined
  });
  return { runs: new Runs(model), model };
}

describe('the list', () => {
  it('has what runs before what has ended, the newest of each first', () => {
    const { runs, model } = list();
    model.takeValues({
      runs: [
        wire({ name: 'old', state: 'Completed', startedS: 1 }),
        wire({ name: 'live', startedS: 2 }),
        wire({ name: 'new', state: 'Failed', startedS: 3 }),
        wire({ name: 'waiting', state: 'Pending', startedS: null })
      ]
    });

    expect(runs.rows.map(({ name }) => name)).toEqual([
      'waiting',
      'live',
      'new',
      'old'
    ]);
    expect(runs.usdPerHourNow).toBe(3); // of the two that run
  });

  it('takes changes, and forgets what was removed', () => {
    const { runs, model } = list();
    model.takeValues({ runs: [wire({ name: 'a' }), wire({ name: 'b' })] });
    model.takeValues({
      rows_changed: [wire({ name: 'b', state: 'Failed' })],
      removed: ['a']
    });

    expect(runs.rows.map(({ name, state }) => [name, state])).toEqual([
      ['b', 'Failed']
    ]);
    expect(runs.usdPerHourNow).toBe(0);
    model.takeValues({ rows_changed: [wire({ name: 'c', usdPerHour: null })] });
    expect(runs.usdPerHourNow).toBeNull();
  });

  it('that comes anew replaces all rows', () => {
    const { runs, model } = list();
    model.takeValues({ runs: [wire({ name: 'a' })] });
    model.takeValues({ runs: [wire({ name: 'b' })] });

    expect(runs.rows.map(({ name }) => name)).toEqual(['b']);
  });
});

describe('the filter', () => {
  const rows = [
    row({ name: 'bert', cluster: 'ml.p4d' }),
    row({ name: 'gpt', state: 'Failed', entryPoint: 'Train.py' }),
    row({ name: 'both', kind: 'comparison', state: 'Completed' })
  ];
  const names = (
    ...filter: Parameters<typeof filtered> extends [unknown, ...infer Rest]
      ? Rest
      : never
  ): string[] => filtered(rows, ...filter).map(({ name }) => name);

  it('finds words in any order and case, in all that is told', () => {
    expect(names('all', 'P4D bert')).toEqual(['bert']);
    expect(names('all', 'train failed')).toEqual(['gpt']);
    expect(names('all', 'nothing')).toEqual([]);
  });

  it('keeps those in a state, or of a kind', () => {
    expect(names('live', '')).toEqual(['bert']);
    expect(names('ended', '')).toEqual(['gpt', 'both']);
    expect(names('failed', '')).toEqual(['gpt']);
    expect(names('comparisons', '')).toEqual(['both']);
  });

  it('shows what was launched to measure while it runs, and to those who look', () => {
    const measuring = [
      row({ name: 'now', madeBy: 'calibration' }),
      row({ name: 'then', madeBy: 'proof', state: 'Completed' })
    ];
    const shown = (...filter: [Show, string]): string[] =>
      filtered(measuring, ...filter).map(({ name }) => name);

    // the same array tells that nothing is looked for
    expect(filtered(measuring, 'all', '')).toBe(measuring);
    expect(measuring.filter(isListed).map(({ name }) => name)).toEqual(['now']);
    expect(shown('all', 'then')).toEqual(['then']);
    expect(shown('ended', '')).toEqual(['then']);
  });
});

describe('a row', () => {
  it('tells state, speed, steps and price', () => {
    const live = row();

    expect(stateFacts(live, TEXTS)).toEqual(['Running', '120 ms per step']);
    expect(rowFacts(live, TEXTS)).toEqual([
      '$1.50/h',
      '$0.25',
      '50 of 200 steps'
    ]);
    expect(progress(live)).toBe(0.25);
  });

  it('tells what is billed from what would cost', () => {
    const facts = (
      isBilled: boolean,
      state = 'InProgress'
    ): readonly string[] =>
      rowFacts(row({ isBilled, state }), TEXTS).slice(0, 2);

    expect(facts(true)).toEqual(['$1.50/h is billed', '$0.25']);
    expect(facts(false)).toEqual(['would cost $1.50/h', '$0.25']);
    expect(facts(false, 'Completed')[0]).toBe('would have cost $0.25');
  });

  it('calls an emulated step time so, and an unknown one nothing', () => {
    const emulated = row({ evidence: 'emulated', stepTimeS: null });

    expect(stateFacts(emulated, TEXTS)).toEqual(['Running', 'emulated']);
  });

  it('that has ended tells why, and shows no progress and no price per hour', () => {
    const ended = row({
      kind: 'comparison',
      state: 'Failed',
      steps: null,
      reason: 'Out of memory.'
    });

    expect(rowFacts(ended, TEXTS)).toEqual([
      'Comparison',
      '$0.25',
      'Out of memory.'
    ]);
    expect(progress(ended)).toBeNull();
  });
});
