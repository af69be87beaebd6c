import { cut, sampledRows } from './outline.js';
import { lowerBound, upperBound, type IRange } from './ranges.js';
import type { ISegment } from './segments.js';

/**
 * A mean and its 95 % interval, from left to right; NaN where it is not known.
 */
export interface IBandStrip {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/**
 * Which rows a rolling mean is of.
 */
export interface IWindow {
  /**
   * Rows of each mean; fewer at the begin.
   */
  readonly rows: number;

  /**
   * Parts of the x axis whose rows are left out, for example the warm-up.
   */
  readonly without: readonly IRange[];
}

/**
 * Return a value with the interval that came with it, once for each column of pixels.
 */
export function intervals(
  segments: readonly ISegment[],
  seen: IRange,
  columns: number
): IBandStrip {
  return stripOf(
    segments.flatMap(segment => {
      const { x, mean, low, high } = segment;
      const rows = sampledRows(segment, cut(segment, seen), seen, columns);
      return rows.map(row => [x[row], mean[row], low[row], high[row]]);
    })
  );
}

/**
 * Return the mean of the last rows with its 95 % interval, once for each column of pixels.
 *
 * The interval is Student's, as if rows did not depend on each other. Rows in bins count as
 * their means do (batch means). Of fewer than three rows or bins only the mean is known: a bin
 * keeps no spread, so where one is longer than the window there is no interval to draw. Of
 * values that are never below 0, as times are, no interval goes there.
 */
export function rolling(
  segments: readonly ISegment[],
  seen: IRange,
  columns: number,
  window: IWindow
): IBandStrip {
  return stripOf(
    segments.flatMap(whole => {
      const segment = without(whole, window.without);
      const part = cut(segment, seen);
      const rows = sampledRows(segment, part, seen, columns);
      return means(segment, part.begin, rows, window);
    })
  );
}

/**
 * Return the mean that ends with a row, and its interval.
 */
export function rollingAt(
  segment: ISegment,
  row: number,
  window: IWindow
): { readonly mean: number; readonly low: number; readonly high: number } {
  const used = without(segment, window.without);
  const [values] = means(used, row, [row], window);
  const [, mean = NaN, low = NaN, high = NaN] = values ?? [];
  return { mean, low, high };
}

/**
 * Return a segment in which the rows of some parts of the x axis are not known.
 */
function without(segment: ISegment, parts: readonly IRange[]): ISegment {
  let { mean } = segment;
  for (const { from, to } of parts) {
    const begin = lowerBound(segment.x, from);
    const end = upperBound(segment.x, to);
    if (end > begin) {
      mean = mean.slice().fill(NaN, begin, end);
    }
  }
  return { ...segment, mean };
}

function stripOf(places: readonly (number | undefined)[][]): IBandStrip {
  const column = (place: number): Float64Array => {
    const values = new Float64Array(places.length);
    places.forEach((row, at) => {
      values[at] = row[place] as number;
    });
    return values;
  };
  return { x: column(0), y: column(1), low: column(2), high: column(3) };
}

function means(
  { x, mean: y, width }: ISegment,
  begin: number,
  rows: readonly number[],
  { rows: length }: IWindow
): number[][] {
  const window = Math.max(1, Math.round(length / width));
  const first = Math.max(0, begin - window + 1);
  // sums of differences to a value nearby keep the digits that squares would lose
  const near = y.subarray(first).find(value => !Number.isNaN(value)) ?? 0;
  const least = y.subarray(first).some(value => value < 0) ? -Infinity : 0;
  let sum = 0;
  let squares = 0;
  let count = 0;
  let next = first;
  let oldest = first;
  return rows.map(row => {
    for (; next <= row; next++) {
      const difference = (y[next] as number) - near;
      if (!Number.isNaN(difference)) {
        sum += difference;
        squares += difference * difference;
        count += 1;
      }
    }
    for (; oldest <= row - window; oldest++) {
      const difference = (y[oldest] as number) - near;
      if (!Number.isNaN(difference)) {
        sum -= difference;
        squares -= difference * difference;
        count -= 1;
      }
    }
    const mean = near + sum / count;
    const half = halfWidth(count, Math.max(0, squares - (sum * sum) / count));
    return [x[row] as number, mean, Math.max(least, mean - half), mean + half];
  });
}

/**
 * Half the 95 % interval of a mean of so many values, from the sum of their squared
 * differences to it.
 */
function halfWidth(count: number, squares: number): number {
  const freedom = count - 1;
  return freedom < 2
    ? NaN
    : studentQuantile(freedom) * Math.sqrt(squares / freedom / count);
}

/**
 * Return the 97.5 % quantile of Student's distribution, within 1 % from 2 degrees of freedom
 * on.
 *
 * Source: Cornish-Fisher expansion, Abramowitz and Stegun 26.7.5.
 */
export function studentQuantile(freedom: number): number {
  const z = 1.959964;
  const f = 1 / freedom;
  const z3 = z ** 3;
  const z5 = z ** 5;
  const z7 = z ** 7;
  const z9 = z ** 9;
  return (
    z +
    (f * (z3 + z)) / 4 +
    (f ** 2 * (5 * z5 + 16 * z3 + 3 * z)) / 96 +
    (f ** 3 * (3 * z7 + 19 * z5 + 17 * z3 - 15 * z)) / 384 +
    (f ** 4 * (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z)) / 92160
  );
}
