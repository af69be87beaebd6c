import { describe, expect, it } from 'vitest';
import { History } from '../src/live/history.js';
import { randomNumbers } from './tables.js';

function known(values: readonly number[]): number[] {
  return values.filter(value => !Number.isNaN(value));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('History', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'equals a computation over all rows (seed %i)',
    seed => {
      const random = randomNumbers(seed);
      const history = new History(1, 8);
      const rows: number[] = [];
      while (rows.length < 300) {
        const block = Array.from({ length: Math.floor(random() * 40) }, () =>
          random() < 0.3 ? NaN : random() - 0.5
        );
        rows.push(...block);
        history.append([Float64Array.from(block)]);

        const { width, low, high, mean: means } = history.before(rows.length);
        expect(history.numRows).toBe(rows.length);
        expect(rows.length).toBeLessThanOrEqual(8 * width);
        low[0]?.forEach((least, bin) => {
          const part = known(rows.slice(bin * width, (bin + 1) * width));
          expect(least).toBe(part.length > 0 ? Math.min(...part) : NaN);
          expect(high[0]?.[bin]).toBe(
            part.length > 0 ? Math.max(...part) : NaN
          );
          if (part.length > 0) {
            expect(means[0]?.[bin]).toBeCloseTo(mean(part), 12);
          } else {
            expect(means[0]?.[bin]).toBeNaN();
          }
        });
      }
    }
  );

  it('keeps a spike among a million rows', () => {
    const history = new History(1, 4_096);
    const rows = new Float64Array(1_000_000).fill(1);
    rows[123_456] = 1_000;
    history.append([rows]);

    const { high, low } = history.before(1_000_000);

    expect(Math.max(...(high[0] as Float64Array))).toBe(1_000);
    expect(Math.min(...(low[0] as Float64Array))).toBe(1);
  });

  it('does not know the rows that it was told to skip', () => {
    const history = new History(1, 4);
    history.skip(6);
    history.append([Float64Array.of(5, 7)]);

    const bins = history.before(8);

    expect(bins.width).toBe(2);
    expect([...(bins.mean[0] as Float64Array)]).toEqual([NaN, NaN, NaN, 6]);
  });

  it('goes on behind a last bin that is not full', () => {
    const history = new History(1, 4);
    const bins = {
      first: 0,
      width: 4,
      low: [Float64Array.of(1, 5)],
      high: [Float64Array.of(4, 6)],
      mean: [Float64Array.of(2.5, 5.5)]
    };
    history.reset(bins, 6);
    history.append([Float64Array.of(7, 8)]);

    const { mean: means, high } = history.before(8);

    expect(history.numRows).toBe(8);
    expect([...(means[0] as Float64Array)]).toEqual([2.5, 6.5]);
    expect([...(high[0] as Float64Array)]).toEqual([4, 8]);
  });

  it('takes more bins than it keeps', () => {
    const history = new History(1, 2);
    const values = Float64Array.of(1, 2, 3, 4);
    const bins = {
      first: 0,
      width: 3,
      low: [values],
      high: [values],
      mean: [values]
    };
    history.reset(bins, 12);

    const { width, low, high, mean: means } = history.before(12);

    expect(width).toBe(6);
    expect([...(low[0] as Float64Array)]).toEqual([1, 3]);
    expect([...(high[0] as Float64Array)]).toEqual([2, 4]);
    expect([...(means[0] as Float64Array)]).toEqual([1.5, 3.5]);
  });
});
