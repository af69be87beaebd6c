import { lowerBound } from './ranges.js';
import type { ISegment } from './segments.js';

/**
 * A row of a series.
 */
export interface IPlace {
  readonly segment: ISegment;
  readonly row: number;
}

/**
 * Return the row whose x is next to a value, or null: there are no rows.
 */
export function nearestRow(
  segments: readonly ISegment[],
  x: number
): IPlace | null {
  let best: IPlace | null = null;
  let distance = Infinity;
  for (const segment of segments) {
    const after = lowerBound(segment.x, x);
    for (const row of [after - 1, after]) {
      const away = Math.abs((segment.x[row] ?? NaN) - x);
      if (away < distance) {
        best = { segment, row };
        distance = away;
      }
    }
  }
  return best;
}

/**
 * Return the next x of some series, or null: there is none.
 *
 * @param direction - 1 towards the end, -1 towards the begin.
 */
export function nextX(
  segments: readonly ISegment[],
  x: number,
  direction: 1 | -1
): number | null {
  let best: number | null = null;
  for (const { x: values } of segments) {
    let row = lowerBound(values, x) + (direction === 1 ? 0 : -1);
    while (values[row] === x) {
      row += direction;
    }
    const found = values[row];
    if (
      found !== undefined &&
      (best === null || direction * (found - best) < 0)
    ) {
      best = found;
    }
  }
  return best;
}
