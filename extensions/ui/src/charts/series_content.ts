import { paintEndLabels, roomFor, type IEndLabel } from './end_labels.js';
import type { IContent, IKeyItem, IReadout, ITextTable } from './content.js';
import { heightOf, layerOf, type ILayer } from './layers.js';
import { nearestRow, nextX } from './nearest.js';
import type { IAxis, IChartOptions, ISeries, IShade } from './options.js';
import {
  paintLayers,
  paintSample,
  paintShade,
  xOf,
  yOf,
  type IGeometry
} from './paint.js';
import type { IPen } from './pen.js';
import { union, type IRange } from './ranges.js';
import { extentOf, segmentsOf } from './segments.js';
import {
  fullLabel,
  rowText,
  seriesCsv,
  seriesSummary,
  seriesTable
} from './series_text.js';
import type { ITheme } from './theme.js';

const LABEL_PIXELS = 11;
const LETTER_PIXELS = 5.6;
const END = { from: Infinity, to: Infinity };

/**
 * Series over a common x axis.
 */
export class SeriesContent implements IContent {
  readonly title: string;
  readonly x: IAxis;
  readonly y: IAxis;
  readonly rows = null;

  /**
   * Shaded parts.
   */
  shades: readonly IShade[] = [];

  /**
   * What stands at the ends of the lines, where there is room.
   */
  labels: readonly IEndLabel[] = [];

  constructor({ title, x, y }: IChartOptions) {
    this.title = title;
    this.x = x;
    this.y = y;
  }

  /**
   * The series that are shown, in their order.
   */
  get shown(): readonly ISeries[] {
    return this._series.filter(series => !this._hidden.has(series));
  }

  /**
   * The series whose names stand at their ends.
   */
  get labelled(): readonly ISeries[] {
    return this._room === 0
      ? []
      : this._series.filter(
          ({ color, evidence }) =>
            evidence !== 'predicted' &&
            this.labels.some(label => label.color === color)
        );
  }

  roomFor(width: number): number {
    this._room = roomFor(this.labels, width);
    return this._room;
  }

  /**
   * Show another series.
   */
  add(series: ISeries): void {
    this._series.push(series);
  }

  /**
   * Hide a series, or show it again.
   */
  toggle(series: ISeries): void {
    if (!this._hidden.delete(series)) {
      this._hidden.add(series);
    }
  }

  extent(): IRange | null {
    // also of what is hidden, so that the axis stays where it is
    return this._series.map(extentOf).reduce(union, null);
  }

  arrange(seen: IRange, columns: number): IRange {
    this._seen = seen;
    this._layers = this.shown.map(series =>
      layerOf(series, seen, columns, this.shades)
    );
    return heightOf(this._layers, seen, this.shades, this.y);
  }

  paint(pen: IPen, geometry: IGeometry, theme: ITheme): void {
    this._paintShades(pen, geometry, theme);
    this._paintReference(pen, geometry, theme);
    paintLayers(pen, this._layers, geometry, theme);
    this._paintShadeLabels(pen, geometry, theme);
    if (this._room > 0) {
      paintEndLabels(pen, this.labels, this._layers, geometry, theme);
    }
  }

  readout(x: number): IReadout | null {
    const found = this.shown.flatMap(series => {
      const place = nearestRow(segmentsOf(series), x);
      return place === null ? [] : [{ series, place }];
    });
    const xs = found.map(({ place }) => place.segment.x[place.row] as number);
    const [nearest] = xs.sort((a, b) => Math.abs(a - x) - Math.abs(b - x));
    if (nearest === undefined) {
      return null;
    }
    // said once, by what the chart belongs to, where all numbers are alike
    const isAlike =
      new Set(this._series.map(({ evidence }) => evidence)).size === 1;
    return {
      x: nearest,
      lines: found.map(({ series, place }) => ({
        label: isAlike ? series.label : fullLabel(series),
        text: rowText(this, series, place),
        color: series.color
      }))
    };
  }

  next(x: number, direction: 1 | -1): number | null {
    return nextX(this.shown.flatMap(segmentsOf), x, direction);
  }

  summary(): string {
    return this._seen === null
      ? ''
      : seriesSummary(this, this.shown, this._seen);
  }

  table(seen: IRange, most: number): ITextTable {
    return seriesTable(this, this.shown, seen, most);
  }

  csv(): Iterable<readonly (string | number)[]> {
    return seriesCsv(this, this._series);
  }

  key(): readonly IKeyItem[] {
    return this.shown.map(series => ({
      label: fullLabel(series),
      paint: (pen, box, theme) => {
        paintSample(pen, series, box, theme);
      }
    }));
  }

  private _paintShades(pen: IPen, geometry: IGeometry, theme: ITheme): void {
    const { top, height } = geometry.area;
    for (const shade of this.shades) {
      const [left, right] = endsOf(geometry, shade);
      if (right >= left) {
        const box = { left, top, width: right - left, height };
        paintShade(pen, box, shade.look, theme);
      }
    }
  }

  /**
   * Write what shaded parts are over the lines, as far as there is room up to the next one.
   */
  private _paintShadeLabels(
    pen: IPen,
    geometry: IGeometry,
    theme: ITheme
  ): void {
    const { left: begin, top, width: whole, height } = geometry.area;
    const end = begin + whole;
    const labelled = this.shades.filter(({ label }) => label !== '');
    labelled.forEach((shade, place) => {
      const { label, short } = shade;
      const [left, right] = endsOf(geometry, shade);
      if (right < left) {
        return;
      }
      const ink = { color: theme.muted, size: LABEL_PIXELS };
      if (short === undefined) {
        pen.text(label, left + 4, top + height - LABEL_PIXELS, ink);
        return;
      }
      const [next] = endsOf(geometry, labelled[place + 1] ?? END);
      const words = [label, short].find(
        one => one.length * LETTER_PIXELS < Math.min(next, end) - left
      );
      if (words !== undefined) {
        const width = words.length * LETTER_PIXELS;
        const box = { left: left + 2, top: top + 3, width, height: 16 };
        pen.boxes([box], { color: theme.paper, alpha: 0.8 });
        pen.text(words, left + 4, top + LABEL_PIXELS, ink);
      }
    });
  }

  /**
   * Draw what values are compared with, as 1 is of ratios; at an end of the axis it is seen.
   */
  private _paintReference(pen: IPen, geometry: IGeometry, theme: ITheme): void {
    const { area, y } = geometry;
    const { including } = this.y;
    if (including !== undefined && y.from < including && including < y.to) {
      const top = yOf(geometry, including);
      const ends = Float64Array.of(area.left, area.left + area.width);
      pen.line(ends, Float64Array.of(top, top), {
        color: theme.muted,
        width: 1.5
      });
    }
  }

  private readonly _series: ISeries[] = [];
  private readonly _hidden = new Set<ISeries>();
  private _layers: readonly ILayer[] = [];
  private _seen: IRange | null = null;
  private _room = 0;
}

/**
 * Return where the part of an axis that is seen of a shaded part begins and ends, in pixels.
 */
function endsOf(geometry: IGeometry, { from, to }: IRange): [number, number] {
  const { left, width } = geometry.area;
  return [
    Math.max(left, xOf(geometry, from)),
    Math.min(left + width, xOf(geometry, to))
  ];
}
