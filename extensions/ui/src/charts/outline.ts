import { lowerBound, upperBound, type IRange } from './ranges.js';
import type { ISegment } from './segments.js';

/**
 * Places of a picture, from left to right. y of NaN is a gap.
 */
export interface IStrip {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

/**
 * Return all rows where they are few; where they are many, at most four in each column of
 * pixels: the first, the least, the greatest and the last. So no spike is lost.
 *
 * @param seen - Part of the x axis; the next row on each side is there too, for the line to it.
 * @param columns - Columns of pixels.
 */
export function outline(
  segments: readonly ISegment[],
  seen: IRange,
  columns: number
): IStrip {
  const strip = new Strip();
  const scale = columns / (seen.to - seen.from);
  for (const segment of segments) {
    const { begin, end } = cut(segment, seen);
    if (segment.width === 1 && end - begin <= 2 * columns) {
      strip.rows(segment, begin, end);
    } else {
      strip.columns(segment, { begin, end, from: seen.from, scale });
    }
  }
  return strip.get();
}

/**
 * Return the last place of each column of pixels, and the places next to what is seen.
 */
export function sampledRows(
  { x }: ISegment,
  { begin, end }: { readonly begin: number; readonly end: number },
  seen: IRange,
  columns: number
): number[] {
  const scale = columns / (seen.to - seen.from);
  const part = { begin, end, from: seen.from, scale };
  const rows: number[] = [];
  for (let row = begin; row < end; ) {
    row = endOfColumn(x, row, part);
    rows.push(row - 1);
  }
  return rows;
}

/**
 * Return the first row behind those that lie in one column of pixels with this one.
 */
function endOfColumn(x: Float64Array, row: number, part: IPart): number {
  const column = Math.floor(((x[row] as number) - part.from) * part.scale);
  const limit = part.from + (column + 1) / part.scale;
  let end = row + 1;
  while (end < part.end && (x[end] as number) < limit) {
    end += 1;
  }
  return end;
}

/**
 * Return which rows of a segment are seen, and the next one on each side.
 */
export function cut(
  segment: ISegment,
  seen: IRange
): { readonly begin: number; readonly end: number } {
  const begin = Math.max(0, lowerBound(segment.x, seen.from) - 1);
  const end = Math.min(segment.x.length, upperBound(segment.x, seen.to) + 1);
  return { begin, end };
}

interface IPart {
  readonly begin: number;
  readonly end: number;

  /**
   * x of the left end of the first column of pixels.
   */
  readonly from: number;

  /**
   * Columns of pixels in one x.
   */
  readonly scale: number;
}

/**
 * Places that grow.
 */
class Strip {
  get(): IStrip {
    return {
      x: this._x.subarray(0, this._length),
      y: this._y.subarray(0, this._length)
    };
  }

  rows({ x, mean }: ISegment, begin: number, end: number): void {
    for (let row = begin; row < end; row++) {
      this._add(x[row] as number, mean[row] as number);
    }
  }

  /**
   * Add what the rows of each column of pixels come to.
   */
  columns(segment: ISegment, part: IPart): void {
    const { x, mean, low, high } = segment;
    for (let row = part.begin; row < part.end; ) {
      const end = endOfColumn(x, row, part);
      let first = -1;
      let last = -1;
      let least = -1;
      let greatest = -1;
      for (; row < end; row++) {
        if (Number.isNaN(mean[row])) {
          continue;
        }
        if (first < 0) {
          first = least = greatest = row;
        }
        last = row;
        if ((low[row] as number) < (low[least] as number)) {
          least = row;
        }
        if ((high[row] as number) > (high[greatest] as number)) {
          greatest = row;
        }
      }
      if (first >= 0) {
        this._column(segment, first, least, greatest, last);
      } else {
        this._add(x[end - 1] as number, NaN);
      }
    }
  }

  private _column(
    { x, mean, low, high }: ISegment,
    first: number,
    least: number,
    greatest: number,
    last: number
  ): void {
    const isRising = least < greatest;
    const [one, other] = isRising ? [low, high] : [high, low];
    const [before, behind] = isRising ? [least, greatest] : [greatest, least];
    this._add(x[first] as number, mean[first] as number);
    this._add(x[before] as number, one[before] as number);
    this._add(x[behind] as number, other[behind] as number);
    this._add(x[last] as number, mean[last] as number);
  }

  /**
   * Add a place, unless it is the same as the one before.
   */
  private _add(x: number, y: number): void {
    const last = this._length - 1;
    if (last >= 0 && this._x[last] === x && Object.is(this._y[last], y)) {
      return;
    }
    if (this._length === this._x.length) {
      this._x = grown(this._x);
      this._y = grown(this._y);
    }
    this._x[this._length] = x;
    this._y[this._length] = y;
    this._length += 1;
  }

  private _x = new Float64Array(1_024);
  private _y = new Float64Array(1_024);
  private _length = 0;
}

function grown(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const more = new Float64Array(2 * values.length);
  more.set(values);
  return more;
}
