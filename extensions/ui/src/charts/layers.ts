import type { Evidence, IAxis, ISeries, IShade } from './options.js';
import { outline, type IStrip } from './outline.js';
import { intervals, rolling, type IBandStrip } from './rolling.js';
import { isWithin, upperBound, type IRange } from './ranges.js';
import { segmentsOf } from './segments.js';

const MARK_PIXELS = 5; // more marks would cover each other

/**
 * Rows of a rolling mean where a series does not say.
 */
export const DEFAULT_WINDOW = 50;

/**
 * One series as it is drawn: marks, a band, a line, in this order.
 */
export interface ILayer {
  readonly evidence: Evidence;

  /**
   * Place in the palette.
   */
  readonly color: number;

  readonly marks?: IStrip;
  readonly line?: IStrip;
  readonly band?: IBandStrip;

  /**
   * Whether the marks stand behind something that is more important.
   */
  readonly isFaint?: boolean;
}

/**
 * Return how a series is drawn.
 *
 * @param seen - Part of the x axis.
 * @param columns - Columns of pixels.
 * @param shades - Shaded parts: rolling means leave them out.
 */
export function layerOf(
  series: ISeries,
  seen: IRange,
  columns: number,
  shades: readonly IShade[] = []
): ILayer {
  const segments = segmentsOf(series);
  const { evidence, color, factor = 1 } = series;
  const style = { evidence, color };
  const marks = (): IStrip =>
    scaled(outline(segments, seen, Math.max(1, columns / MARK_PIXELS)), factor);
  switch (series.as) {
    case 'points':
      return { ...style, marks: marks() };
    case 'line':
      return {
        ...style,
        line: scaled(broken(outline(segments, seen, columns), shades), factor)
      };
    case 'rolling': {
      const rows = series.window ?? DEFAULT_WINDOW;
      const window = { rows, without: shades };
      const band = scaledBand(
        broken(rolling(segments, seen, columns, window), shades),
        factor
      );
      return { ...style, marks: marks(), isFaint: true, band, line: band };
    }
    case 'interval': {
      const band = scaledBand(intervals(segments, seen, columns), factor);
      return { ...style, band, line: band };
    }
  }
}

/**
 * Return a line that is broken where a gap lies between two of its places.
 */
function broken<T extends IStrip>(strip: T, shades: readonly IShade[]): T {
  const { x } = strip;
  const cuts = shades
    .filter(({ look }) => look === 'gap')
    .map(({ from, to }) => upperBound(x, (from + to) / 2))
    .filter(place => place > 0 && place < x.length);
  if (cuts.length === 0) {
    return strip;
  }
  const cut = (values: Float64Array): Float64Array =>
    Float64Array.from(
      [...values].flatMap((value, place) =>
        cuts.includes(place) ? [values === x ? value : NaN, value] : value
      )
    );
  return Object.fromEntries(
    Object.entries(strip).map(([name, values]) => [
      name,
      cut(values as Float64Array)
    ])
  ) as unknown as T;
}

/**
 * Return the part of the y axis that shows all layers, with some room. What is in a shaded part
 * counts only where there is nothing else: one slow warm-up step would flatten all the others.
 */
export function heightOf(
  layers: readonly ILayer[],
  seen: IRange,
  shades: readonly IRange[],
  axis: IAxis
): IRange {
  const isSeen = (x: number): boolean => isWithin(x, seen);
  const isPlain = (x: number): boolean =>
    isSeen(x) && !shades.some(shade => isWithin(x, shade));
  const found = extremes(layers, isPlain) ?? extremes(layers, isSeen);
  let { from, to } = found ?? { from: 0, to: 1 };
  const { including } = axis;
  if (including !== undefined) {
    from = Math.min(from, including);
    to = Math.max(to, including);
  }
  const room = to > from ? 0.06 * (to - from) : 0.1 * Math.abs(to) || 1;
  return {
    from: from === including && from === 0 ? from : from - room,
    to: to + room
  };
}

function extremes(
  layers: readonly ILayer[],
  counts: (x: number) => boolean
): IRange | null {
  let from = Infinity;
  let to = -Infinity;
  const look = (x: Float64Array, y: Float64Array, begin = 0): void => {
    for (let place = begin; place < x.length; place++) {
      const value = y[place] as number;
      if ((value < from || value > to) && counts(x[place] as number)) {
        from = Math.min(from, value);
        to = Math.max(to, value);
      }
    }
  };
  for (const { marks, line, band } of layers) {
    for (const strip of [marks, line]) {
      if (strip !== undefined) {
        look(strip.x, strip.y);
      }
    }
    if (band !== undefined) {
      // the first intervals are as wide as nothing is known
      const half = band.x.length >>> 1;
      look(band.x, band.low, half);
      look(band.x, band.high, half);
    }
  }
  return from <= to ? { from, to } : null;
}

function scaled({ x, y }: IStrip, factor: number): IStrip {
  return { x, y: times(y, factor) };
}

function scaledBand(
  { x, y, low, high }: IBandStrip,
  factor: number
): IBandStrip {
  return {
    x,
    y: times(y, factor),
    low: times(low, factor),
    high: times(high, factor)
  };
}

function times(values: Float64Array, factor: number): Float64Array {
  return factor === 1 ? values : values.map(value => value * factor);
}
