import { expect, it } from 'vitest';
import { rolling, rollingAt, studentQuantile } from '../src/charts/rolling.js';
import { segmentsOf, type ISegment } from '../src/charts/segments.js';
import { count, randomNumbers, seriesOf, tableOf } from './tables.js';

const WINDOW = 20;
const LAST = { rows: WINDOW, without: [] };

function segmentOf(y: readonly number[]): ISegment[] {
  return segmentsOf(seriesOf(tableOf({ x: count(y.length), y })));
}

it('equals the mean and the interval of each window', () => {
  const random = randomNumbers(1);
  const y = Array.from({ length: 200 }, () =>
    random() < 0.1 ? NaN : 1e6 + random()
  );
  const strip = rolling(segmentOf(y), { from: 0, to: 199 }, 1_000, LAST);

  expect(strip.x).toHaveLength(200);
  strip.x.forEach((x, place) => {
    const values = y
      .slice(Math.max(0, x - WINDOW + 1), x + 1)
      .filter(v => v === v);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(strip.y[place]).toBeCloseTo(mean, 6);
    if (values.length >= 3) {
      const squares = values.reduce(
        (sum, value) => sum + (value - mean) ** 2,
        0
      );
      const freedom = values.length - 1;
      const half =
        studentQuantile(freedom) * Math.sqrt(squares / freedom / values.length);
      expect(strip.high[place]).toBeCloseTo(mean + half, 5);
      expect(strip.low[place]).toBeCloseTo(mean - half, 5);
    } else {
      expect(strip.low[place]).toBeNaN();
    }
  });
});

it('is the same for a part as for the whole', () => {
  const random = randomNumbers(2);
  const segments = segmentOf(Array.from({ length: 500 }, random));
  const whole = rolling(segments, { from: 0, to: 499 }, 1_000, LAST);
  const part = rolling(segments, { from: 300, to: 310 }, 1_000, LAST);

  expect([...part.x]).toEqual(count(13).map(x => x + 299));
  part.x.forEach((x, place) => {
    expect(part.y[place]).toBeCloseTo(whole.y[x] as number, 9);
  });
  const last = segments[0] as ISegment;
  expect(rollingAt(last, 305, LAST).mean).toBeCloseTo(
    whole.y[305] as number,
    9
  );
});

it('leaves out parts, also behind them', () => {
  const segments = segmentOf([100, 100, 1, 2, 3]);
  const window = { rows: WINDOW, without: [{ from: 0, to: 1 }] };
  const strip = rolling(segments, { from: 0, to: 4 }, 1_000, window);

  expect([...strip.y]).toEqual([NaN, NaN, 1, 1.5, 2]);
  expect(rollingAt(segments[0] as ISegment, 3, window).mean).toBe(1.5);
});

it('gives one place for each column of pixels', () => {
  const strip = rolling(
    segmentOf(count(10_000)),
    { from: 0, to: 9_999 },
    100,
    LAST
  );

  expect(strip.x.length).toBeLessThanOrEqual(101);
});

it('takes the means of bins for rows, where a window holds several bins', () => {
  const [rows] = segmentOf([1, 2, 3, 4, 5, 6]) as [ISegment];
  const seen = { from: 0, to: 5 };
  const few = { rows: 3, without: [] };
  const asBins = rolling([{ ...rows, width: 10 }], seen, 100, {
    ...few,
    rows: 30
  });

  expect(asBins).toEqual(rolling([rows], seen, 100, few));
  expect(asBins.low[5]).toBeLessThan(5);
  // a bin that is longer than the window keeps its mean, and no spread
  const wide = rolling([{ ...rows, width: 100 }], seen, 100, few);
  expect([...wide.y]).toEqual([1, 2, 3, 4, 5, 6]);
  expect([...wide.low]).toEqual(Array(6).fill(NaN));
});

it.each([
  [2, 4.303],
  [5, 2.571],
  [10, 2.228],
  [49, 2.01],
  [1_000, 1.962]
])('knows the quantile of %i degrees of freedom', (freedom, quantile) => {
  expect(Math.abs(studentQuantile(freedom) / quantile - 1)).toBeLessThan(0.01);
});

it('has no interval below zero for values that are never there', () => {
  const times = [0.1, 0.1, 0.1, 5, 0.1];
  const seen = { from: 0, to: 4 };

  const { low } = rolling(segmentOf(times), seen, 1_000, LAST);
  const signed = rolling(segmentOf([-1, ...times]), seen, 1_000, LAST);

  expect(low[4]).toBe(0);
  expect(signed.low[4]).toBeLessThan(0);
});
