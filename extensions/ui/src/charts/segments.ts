import type { IBins, IFrame } from '@smtc-lab/protocol';
import type { ISeries } from './options.js';
import { lowerBound, upperBound, type IRange } from './ranges.js';

/**
 * Rows of one series that follow each other, as they are or in bins. x never decreases, also
 * from one segment to the next.
 */
export interface ISegment {
  readonly x: Float64Array;
  readonly mean: Float64Array;

  /**
   * Least value of each bin, or the low end of an interval; the same as `mean` where there is
   * neither.
   */
  readonly low: Float64Array;
  readonly high: Float64Array;

  /**
   * Rows of each item: 1, or the width of the bins.
   */
  readonly width: number;
}

/**
 * Return all rows of a series, oldest first: the old ones in bins, or in the detail that was
 * asked for, the last ones as they are. They are views into memory that later rows overwrite.
 */
export function segmentsOf(series: ISeries): ISegment[] {
  const { less } = series;
  const segments = wholeSegments(series);
  return less === undefined
    ? segments
    : segments.map(({ x, mean, low, high, width }) => {
        const rest = (y: Float64Array): Float64Array =>
          y.map((value, place) =>
            less.reduce(
              (left, { from, by }) =>
                left - ((x[place] as number) < from ? 0 : by),
              value
            )
          );
        const part = { x, mean: rest(mean), width };
        return low === mean
          ? { ...part, low: part.mean, high: part.mean }
          : { ...part, low: rest(low), high: rest(high) };
      });
}

function wholeSegments(series: ISeries): ISegment[] {
  const { table } = series;
  const segments: ISegment[] = [];
  if (table.firstKept > 0) {
    segments.push(...olderSegments(series));
  }
  const x = onAxis(series, table.column(series.x));
  if (x.length > 0) {
    clamp(segments, x[0] as number);
    const mean = table.column(series.y);
    segments.push({
      x,
      mean,
      low: series.low === undefined ? mean : table.column(series.low),
      high: series.high === undefined ? mean : table.column(series.high),
      width: 1
    });
  }
  return segments;
}

/**
 * Return from where to where the x of a series goes, or null: it has no row.
 */
export function extentOf(series: ISeries): IRange | null {
  const { table } = series;
  const kept = table.column(series.x);
  const ends = Float64Array.of(kept[0] ?? NaN, kept.at(-1) ?? NaN);
  let [from, to] = kept.length === 0 ? [] : onAxis(series, ends);
  if (table.firstKept > 0) {
    const { x } = binSegment(series, table.olderBins());
    from = x[0];
    to ??= x[x.length - 1];
  }
  return from === undefined || to === undefined || Number.isNaN(from)
    ? null
    : { from, to };
}

/**
 * Return the row numbers that hold a part of the x axis, of the rows that are kept in bins
 * only, or null: all of the part is kept as it is.
 */
export function olderRows(
  series: ISeries,
  part: IRange
): { readonly first: number; readonly end: number } | null {
  const { table } = series;
  if (table.firstKept === 0) {
    return null;
  }
  const { x, width } = binSegment(series, table.olderBins());
  // one bin more on each side: x is the mean of a bin
  const first = Math.max(0, lowerBound(x, part.from) - 1) * width;
  const end = (upperBound(x, part.to) + 1) * width;
  return first < table.firstKept && (x[x.length - 1] as number) >= part.from
    ? { first, end: Math.min(end, table.firstKept) }
    : null;
}

function olderSegments(series: ISeries): ISegment[] {
  const { table } = series;
  const older = table.olderBins();
  const part = table.part;
  if (part === null || part.rows.first >= table.firstKept) {
    return [binSegment(series, older)];
  }
  // what was asked for takes the place of the bins that it covers
  const { first, end } = rowsOf(part);
  const begin = Math.ceil(first / older.width);
  const rest = Math.floor(end / older.width);
  return [
    binSegment(series, older, 0, begin),
    part.bins === null
      ? rowSegment(series, part.rows.values)
      : binSegment(series, part.bins),
    binSegment(series, older, rest)
  ].filter(segment => segment.x.length > 0);
}

/**
 * Return the first row of a part, and the one behind its last.
 */
export function rowsOf({ rows, bins }: IFrame): {
  readonly first: number;
  readonly end: number;
} {
  if (bins === null) {
    return {
      first: rows.first,
      end: rows.first + (rows.values[0]?.length ?? 0)
    };
  }
  const count = bins.low[0]?.length ?? 0;
  return { first: bins.first, end: bins.first + count * bins.width };
}

function binSegment(
  series: ISeries,
  bins: IBins,
  begin = 0,
  end?: number
): ISegment {
  const { table } = series;
  const cut = (columns: readonly Float64Array[], name: string): Float64Array =>
    (columns[table.place(name)] as Float64Array).subarray(begin, end);
  return {
    x: onAxis(series, withoutGaps(cut(bins.mean, series.x))),
    mean: cut(bins.mean, series.y),
    low: cut(bins.low, series.low ?? series.y),
    high: cut(bins.high, series.high ?? series.y),
    width: bins.width
  };
}

function rowSegment(
  series: ISeries,
  values: readonly Float64Array[]
): ISegment {
  const { table, x, y, low, high } = series;
  const column = (name: string): Float64Array =>
    values[table.place(name)] as Float64Array;
  return {
    x: onAxis(series, column(x)),
    mean: column(y),
    low: column(low ?? y),
    high: column(high ?? y),
    width: 1
  };
}

function onAxis({ along }: ISeries, x: Float64Array): Float64Array {
  return along === undefined ? x : x.map(along);
}

/**
 * The last bin may hold rows that are kept as they are too; its x must not be behind theirs.
 */
function clamp(segments: ISegment[], greatest: number): void {
  const last = segments[segments.length - 1];
  const end = last?.x.length ?? 0;
  if (last !== undefined && (last.x[end - 1] as number) > greatest) {
    last.x[end - 1] = greatest; // a copy, see withoutGaps
  }
}

/**
 * Return a copy in which a place that is not known has the x of the one before it, so that
 * places can be searched. Its y is not known either.
 */
function withoutGaps(x: Float64Array): Float64Array {
  let last = x.find(value => !Number.isNaN(value)) ?? NaN;
  return x.map(value => {
    last = Number.isNaN(value) ? last : value;
    return last;
  });
}
