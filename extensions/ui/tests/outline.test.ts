import { describe, expect, it } from 'vitest';
import { outline } from '../src/charts/outline.js';
import { segmentsOf } from '../src/charts/segments.js';
import { count, frameOf, randomNumbers, seriesOf, tableOf } from './tables.js';

const COLUMNS = 100;

function rowsOf(y: readonly number[], x = count(y.length)) {
  return segmentsOf(seriesOf(tableOf({ x, y })));
}

describe('outline', () => {
  it('gives few rows as they are', () => {
    const strip = outline(rowsOf([3, NaN, 5]), { from: 0, to: 2 }, COLUMNS);

    expect([...strip.x]).toEqual([0, 1, 2]);
    expect([...strip.y]).toEqual([3, NaN, 5]);
  });

  it('gives the next row on each side of what is seen', () => {
    const strip = outline(rowsOf(count(10)), { from: 3.5, to: 5.5 }, COLUMNS);

    expect([...strip.x]).toEqual([3, 4, 5, 6]);
  });

  it.each([1, 2, 3])('keeps the extremes of each column (seed %i)', seed => {
    const random = randomNumbers(seed);
    const y = Array.from({ length: 20_000 }, () =>
      random() < 0.001 ? 100 * random() : random()
    );
    const seen = { from: 0, to: y.length - 1 };
    const strip = outline(rowsOf(y), seen, COLUMNS);

    expect(strip.x.length).toBeLessThanOrEqual(4 * (COLUMNS + 1));
    expect(strip.x.length).toBeGreaterThan(COLUMNS);
    expect([...strip.x]).toEqual([...strip.x].sort((a, b) => a - b));
    const width = seen.to / COLUMNS;
    for (let column = 0; column < COLUMNS; column++) {
      const isIn = (x: number): boolean => Math.floor(x / width) === column;
      const drawn = [...strip.y].filter((_, place) =>
        isIn(strip.x[place] as number)
      );
      const there = y.filter((_, x) => isIn(x));
      expect(Math.max(...drawn)).toBe(Math.max(...there));
      expect(Math.min(...drawn)).toBe(Math.min(...there));
    }
  });

  it('has a gap where a column knows nothing, and none where it knows something', () => {
    const y = count(9_999).map(x =>
      x >= 4_000 && x < 6_000 ? NaN : x % 2 ? NaN : 1
    );
    const strip = outline(rowsOf(y), { from: 0, to: 9_998 }, COLUMNS);
    const gaps = [...strip.x].filter((_, place) =>
      Number.isNaN(strip.y[place])
    );

    expect(gaps.length).toBeGreaterThan(0);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(3_900);
    expect(Math.max(...gaps)).toBeLessThan(6_100);
  });

  it('draws a million rows in bins, with their spike', () => {
    const y = new Array<number>(300_000).fill(1);
    y[1_234] = 50;
    const segments = segmentsOf(
      seriesOf(tableOf({ x: count(y.length), y }, 1_000))
    );
    const strip = outline(segments, { from: 0, to: y.length }, COLUMNS);

    expect(segments.map(({ width }) => width)).toEqual([128, 1]);
    expect(Math.max(...strip.y)).toBe(50);
    expect(strip.x.length).toBeLessThanOrEqual(4 * (COLUMNS + 2));
  });
});

describe('segmentsOf', () => {
  it('has no x that goes back where bins and rows meet', () => {
    const table = tableOf({ x: count(50_000), y: count(50_000) }, 1_003);
    const xs = segmentsOf(seriesOf(table)).flatMap(({ x }) => [...x]);

    expect(xs).toEqual([...xs].sort((one, other) => one - other));
  });

  it('can be searched where rows were lost', () => {
    const table = tableOf({ x: [0, 1], y: [0, 1] });
    table.take(frameOf('rows', 9_000, { x: [9_000], y: [3] }));
    const [older] = segmentsOf(seriesOf(table));

    expect([...(older?.x ?? [])].some(Number.isNaN)).toBe(false);
  });

  it('shows what was asked for instead of the bins that it covers', () => {
    const table = tableOf({ x: count(100_000), y: count(100_000) }, 1_000);
    const first = 3_200;
    const x = count(320).map(row => first + row);
    table.take(frameOf('part', first, { x, y: x }));

    const widths = segmentsOf(seriesOf(table)).map(({ width }) => width);
    const xs = segmentsOf(seriesOf(table)).flatMap(segment => [...segment.x]);

    expect(widths).toEqual([32, 1, 32, 1]);
    expect(xs).toEqual(expect.arrayContaining(x));
    expect(xs).toEqual([...xs].sort((one, other) => one - other));
  });
});
