import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ISegment } from '../src/charts/segments.js';
import { merged, MergedRounds } from '../src/study/merged_rounds.js';
import { count, frameOf, randomNumbers, tableOf } from './tables.js';

function round(
  x: readonly number[],
  mean: readonly number[],
  width = 1
): readonly ISegment[] {
  const values = Float64Array.from(mean);
  const own = { mean: values, low: values, high: values, width };
  return [{ x: Float64Array.from(x), ...own }];
}

function rows(columns: readonly Float64Array[]): number[][] {
  return [...(columns[0] ?? []).keys()].map(row =>
    columns.map(column => column[row] as number)
  );
}

describe('rounds of one set-up', () => {
  it('are their mean at each step, with the least and the greatest round', () => {
    const found = merged(
      [round([0, 1, 2], [1, 2, 3]), round([0, 1, 2], [3, 4, 5])],
      1,
      0
    );

    expect(rows(found)).toEqual([
      [0, 2, 1, 3],
      [1, 3, 2, 4],
      [2, 4, 3, 5]
    ]);
  });

  it('have no spread where there is one round only', () => {
    const found = merged([round([0, 1], [1, 1]), round([0], [3])], 1, 0);

    expect(rows(found)).toEqual([
      [0, 2, 1, 3],
      [1, 1, NaN, NaN]
    ]);
  });

  it('have means of the last steps, in which no warm-up is', () => {
    const found = merged([round([0, 1, 2, 3, 4], [9, 7, 1, 3, 5])], 2, 2);

    expect(rows(found).map(([, mean]) => mean)).toEqual([9, 7, 1, 2, 4]);
  });

  it('leave out steps that are not known', () => {
    const found = merged([round([0, 1, 2], [1, NaN, 3])], 2, 0);

    expect(rows(found).map(([step]) => step)).toEqual([0, 2]);
  });

  it('may be kept in bins of several widths', () => {
    const found = merged(
      [round([0.5, 2.5], [1, 3], 2), round([0, 1, 2, 3], [2, 2, 6, 6])],
      2,
      0
    );

    expect(rows(found)).toEqual([
      [0.5, 1.5, 1, 2],
      [2.5, 4.5, 3, 6]
    ]);
  });

  it('have a spread that holds the mean and is never below zero', () => {
    const random = randomNumbers(7);
    const rounds = count(3).map(() =>
      round(
        count(300),
        count(300).map(() => random() ** 8)
      )
    );

    for (const [, mean = NaN, low = NaN, high = NaN] of rows(
      merged(rounds, 20, 5)
    )) {
      expect(low).toBeGreaterThanOrEqual(0);
      expect(mean).toBeGreaterThanOrEqual(low - 1e-12);
      expect(mean).toBeLessThanOrEqual(high + 1e-12);
    }
  });

  it('are nothing while no row is there, and few where steps are far apart', () => {
    expect(rows(merged([], 5, 0))).toEqual([]);

    const far = merged([round([1e9, 2e9], [1, 2])], 5, 0);
    expect(rows(far).map(([, mean]) => mean)).toEqual([1, 2]);
  });
});

describe('MergedRounds', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('follows rounds, but not more often than ten times a second', () => {
    const one = tableOf({ step: [0, 1], step_time_s: [1, 1] });
    const line = new MergedRounds('rounds', {
      column: 'step_time_s',
      window: 1
    });
    let drawings = 0;
    line.table.subscribe(() => {
      drawings += 1;
    });

    line.follow([one], 0);
    for (let step = 2; step < 32; step++) {
      one.take(frameOf('rows', step, { step: [step], step_time_s: [1] }));
      vi.advanceTimersByTime(33);
    }
    vi.advanceTimersByTime(100);

    expect(line.table.numRows).toBe(32);
    expect(drawings).toBeLessThan(13);
  });

  it('lets go twice', () => {
    const one = tableOf({ step: [0], step_time_s: [1] });
    const line = new MergedRounds('rounds', {
      column: 'step_time_s',
      window: 1
    });
    line.follow([one], 0);

    line.dispose();
    line.dispose();
    one.take(frameOf('rows', 1, { step: [1], step_time_s: [1] }));
    vi.advanceTimersByTime(1_000);

    expect(line.table.numRows).toBe(1);
  });
});
