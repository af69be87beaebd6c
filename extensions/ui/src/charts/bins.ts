import { cut } from './outline.js';
import type { IRange } from './ranges.js';
import type { ISegment } from './segments.js';

/**
 * Rows of one series in parts of the x axis of equal width; NaN where there is no row.
 */
export interface IXBins {
  readonly mean: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;

  /**
   * Rows of each bin.
   */
  readonly rows: Float64Array;
}

/**
 * Put the rows of a part of the x axis into bins.
 */
export function xBins(
  segments: readonly ISegment[],
  seen: IRange,
  numBins: number
): IXBins {
  const sum = new Float64Array(numBins);
  const rows = new Float64Array(numBins);
  const low = new Float64Array(numBins).fill(NaN);
  const high = new Float64Array(numBins).fill(NaN);
  const scale = numBins / (seen.to - seen.from);
  for (const segment of segments) {
    const { begin, end } = cut(segment, seen);
    for (let row = begin; row < end; row++) {
      const value = segment.mean[row] as number;
      const place = ((segment.x[row] as number) - seen.from) * scale;
      if (Number.isNaN(value) || place < 0 || place > numBins) {
        continue;
      }
      const bin = Math.min(numBins - 1, Math.floor(place)); // the end belongs to the last
      sum[bin] = (sum[bin] as number) + value * segment.width;
      rows[bin] = (rows[bin] as number) + segment.width;
      const [least, most] = [
        segment.low[row] as number,
        segment.high[row] as number
      ];
      if (!((low[bin] as number) <= least)) {
        low[bin] = least;
      }
      if (!((high[bin] as number) >= most)) {
        high[bin] = most;
      }
    }
  }
  const mean = sum.map((total, bin) => total / (rows[bin] as number)); // 0 / 0 is NaN
  return { mean, low, high, rows };
}
