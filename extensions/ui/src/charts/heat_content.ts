import { xBins, type IXBins } from './bins.js';
import type { IContent, IKeyItem, IReadout, ITextTable } from './content.js';
import { nearestRow, nextX } from './nearest.js';
import type { IAxis, ISeries } from './options.js';
import { xOf, type IGeometry } from './paint.js';
import type { IBox, IPen } from './pen.js';
import { lowerBound, union, type IRange } from './ranges.js';
import { extentOf, segmentsOf } from './segments.js';
import {
  fullLabel,
  seriesCsv,
  seriesSummary,
  seriesTable
} from './series_text.js';
import { colorOf, type ITheme } from './theme.js';
import { format } from './units.js';

const CELL_PIXELS = 4;
const LEVELS = 8;
const GAP = 0.12; // of a row, above and below
const FAINTEST = 0.3;
const TEXT_PIXELS = 11;

/**
 * Rows of fractions over a common x axis. A cell is as high and as strong as its value, so the
 * colour alone never tells it.
 */
export class HeatContent implements IContent {
  readonly shades = [];

  /**
   * @param title - For its texts.
   */
  constructor(
    readonly title: string,
    readonly x: IAxis,
    readonly y: IAxis
  ) {}

  get rows(): readonly string[] {
    return this._series.map(nameOf);
  }

  /**
   * Show another row, below the others.
   */
  add(series: ISeries): void {
    this._series.push(series);
  }

  extent(): IRange | null {
    return this._series.map(extentOf).reduce(union, null);
  }

  arrange(seen: IRange, columns: number): IRange {
    this._seen = seen;
    const numBins = Math.max(1, Math.round(columns / CELL_PIXELS));
    this._bins = this._series.map(series => {
      const segments = segmentsOf(series);
      // where rows are far apart a cell lasts from one to the next
      const rows = segments.reduce(
        (sum, { x }) => sum + lowerBound(x, seen.to) - lowerBound(x, seen.from),
        0
      );
      return xBins(segments, seen, Math.max(1, Math.min(numBins, rows)));
    });
    return { from: 0, to: Math.max(1, this._series.length) };
  }

  paint(pen: IPen, geometry: IGeometry, theme: ITheme): void {
    this._bins.forEach((bins, place) => {
      const last = this._last(place);
      this._paintRow(pen, bins, this._box(place, geometry), theme);
      const { left, top, width, height } = this._box(place, geometry);
      const text = format(last, 'fraction');
      const room = text.length * TEXT_PIXELS * 0.65 + 6;
      const right = left + width;
      const back = {
        left: right - room,
        top: top + 2,
        width: room,
        height: height - 4
      };
      pen.boxes([back], { color: theme.paper, alpha: 0.85 });
      pen.text(text, right - 3, top + height / 2, {
        color: theme.ink,
        size: TEXT_PIXELS,
        align: 'end'
      });
    });
  }

  readout(x: number): IReadout | null {
    const lines: IReadout['lines'][number][] = [];
    let at: number | null = null;
    for (const series of this._series) {
      const place = nearestRow(segmentsOf(series), x);
      if (place !== null) {
        const { segment, row } = place;
        at ??= segment.x[row] as number;
        lines.push({
          label: nameOf(series),
          text: format(segment.mean[row] as number, 'fraction'),
          color: null
        });
      }
    }
    return at === null ? null : { x: at, lines };
  }

  next(x: number, direction: 1 | -1): number | null {
    return nextX(this._series.flatMap(segmentsOf), x, direction);
  }

  summary(): string {
    return this._seen === null
      ? ''
      : seriesSummary(this, this._series, this._seen);
  }

  table(seen: IRange, most: number): ITextTable {
    return seriesTable(this, this._series, seen, most);
  }

  csv(): Iterable<readonly (string | number)[]> {
    return seriesCsv(this, this._series);
  }

  key(): readonly IKeyItem[] {
    return [];
  }

  private _paintRow(
    pen: IPen,
    { mean }: IXBins,
    row: IBox,
    theme: ITheme
  ): void {
    const levels: IBox[][] = Array.from({ length: LEVELS }, () => []);
    const width = row.width / mean.length;
    mean.forEach((value, bin) => {
      if (!Number.isNaN(value)) {
        const share = Math.min(1, Math.max(0, value));
        const height = Math.max(1, share * row.height);
        levels[Math.min(LEVELS - 1, Math.floor(share * LEVELS))]?.push({
          left: row.left + bin * width,
          top: row.top + row.height - height,
          width: width + 0.5, // no seams
          height
        });
      }
    });
    pen.boxes([row], { color: theme.shade });
    levels.forEach((boxes, level) => {
      const alpha = FAINTEST + ((1 - FAINTEST) * level) / (LEVELS - 1);
      pen.boxes(boxes, { color: colorOf(theme, 0), alpha });
    });
  }

  private _box(place: number, geometry: IGeometry): IBox {
    const { area, x } = geometry;
    const height = area.height / this._series.length;
    const left = xOf(geometry, x.from);
    return {
      left,
      top: area.top + (place + GAP) * height,
      width: area.width,
      height: (1 - 2 * GAP) * height
    };
  }

  /**
   * Return the last value of a row that is seen.
   */
  private _last(place: number): number {
    const means = this._bins[place]?.mean ?? new Float64Array();
    for (let bin = means.length - 1; bin >= 0; bin--) {
      if (!Number.isNaN(means[bin])) {
        return means[bin] as number;
      }
    }
    return NaN;
  }

  private readonly _series: ISeries[] = [];
  private _bins: readonly IXBins[] = [];
  private _seen: IRange | null = null;
}

/**
 * Return the name of a row, with the word for where its numbers come from unless that is what
 * one expects.
 */
function nameOf(series: ISeries): string {
  return series.evidence === 'measured' ? series.label : fullLabel(series);
}
