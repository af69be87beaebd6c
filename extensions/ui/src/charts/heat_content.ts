import { xBins, type IXBins } from './bins.js';
import type { IContent, IKeyItem, IReadout, ITextTable } from './content.js';
import { nearestRow, nextX } from './nearest.js';
import type { Evidence, IAxis, ISeries } from './options.js';
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
import { t } from '../i18n.js';

const CELL_PIXELS = 4;
const LEVELS = 8;
const GAP = 0.12; // of a row, above and below
const FAINTEST = 0.3;
const TEXT_PIXELS = 11;
const MOST_LINES = 12; // of a tooltip and a sentence

/**
 * Rows of fractions over a common x axis. A cell is as high and as strong as its value, so the
 * colour alone never tells it.
 */
export class HeatContent implements IContent {
  readonly shades = [];

  /**
   * @param title - For its texts.
   * @param _evidence - Where all numbers come from, as the label of y says; left out: each row
   * says it.
   */
  constructor(
    readonly title: string,
    readonly x: IAxis,
    readonly y: IAxis,
    private readonly _evidence?: Evidence
  ) {}

  get rows(): readonly string[] {
    return this._series.map(series => this._nameOf(series));
  }

  /**
   * Show another row, below the others.
   */
  add(series: ISeries): void {
    this._series.push(series);
  }

  /**
   * Outline some rows, each with a text at its end in place of its last value; null: not this
   * one.
   */
  mark(marks: readonly (string | null)[]): void {
    this._marks = marks;
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
      const box = this._box(place, geometry);
      const color = colorOf(theme, this._series[place]?.color ?? 0);
      paintRow(pen, bins, box, { color, back: theme.shade });
    });
    // over all rows: the texts of low ones are as high as they are
    this._bins.forEach((_, place) => {
      const box = this._box(place, geometry);
      const mark = this._marks[place] ?? null;
      if (mark !== null) {
        pen.boxes(outlineOf(box), { color: theme.ink });
      }
      if (mark !== null || box.height > TEXT_PIXELS) {
        const text = mark ?? format(this._last(place), 'fraction');
        paintEnd(pen, text, box, theme, mark !== null);
      }
    });
  }

  readout(x: number): IReadout | null {
    const found = this._series.flatMap(series => {
      const place = nearestRow(segmentsOf(series), x);
      return place === null
        ? []
        : [
            {
              label: this._nameOf(series),
              at: place.segment.x[place.row] as number,
              value: place.segment.mean[place.row] as number
            }
          ];
    });
    const write = (value: number): string => format(value, 'fraction');
    const few = withoutLow(found);
    const left = found.filter(line => !few.includes(line));
    const lines = few.map(({ label, value }) => ({
      label,
      text: write(value),
      color: null
    }));
    const others = {
      label: t('%1 others', left.length),
      text: t(
        '%1 to %2',
        write(Math.min(...left.map(({ value }) => value))),
        write(Math.max(...left.map(({ value }) => value)))
      ),
      color: null
    };
    const [first] = found;
    return first === undefined
      ? null
      : { x: first.at, lines: left.length === 0 ? lines : [...lines, others] };
  }

  next(x: number, direction: 1 | -1): number | null {
    return nextX(this._series.flatMap(segmentsOf), x, direction);
  }

  summary(): string {
    if (this._seen === null) {
      return '';
    }
    const marked = this._series.filter(
      (_, place) => this._marks[place] != null
    );
    const all = [...new Set([...marked, ...this._series])];
    const told =
      all.length <= MOST_LINES ? this._series : all.slice(0, MOST_LINES - 1);
    const left = all.length - told.length;
    const words = seriesSummary(this, told, this._seen);
    return left === 0 ? words : `${words} ${t('%1 others', left)}.`;
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

  private _nameOf(series: ISeries): string {
    return series.evidence === this._evidence ? series.label : nameOf(series);
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
  private _marks: readonly (string | null)[] = [];
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

/**
 * Return lines without the lowest ones, where there are more than a tooltip has room for.
 */
function withoutLow<T extends { readonly value: number }>(
  lines: readonly T[]
): readonly T[] {
  if (lines.length <= MOST_LINES) {
    return lines;
  }
  const byValue = [...lines].sort((a, b) => (b.value || 0) - (a.value || 0));
  const high = new Set(byValue.slice(0, MOST_LINES - 1));
  return lines.filter(line => high.has(line));
}

function paintRow(
  pen: IPen,
  { mean }: IXBins,
  row: IBox,
  { color, back }: { readonly color: string; readonly back: string }
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
  pen.boxes([row], { color: back });
  levels.forEach((boxes, level) => {
    const alpha = FAINTEST + ((1 - FAINTEST) * level) / (LEVELS - 1);
    pen.boxes(boxes, { color, alpha });
  });
}

function paintEnd(
  pen: IPen,
  text: string,
  { left, top, width, height }: IBox,
  { ink, paper }: ITheme,
  isBold: boolean
): void {
  const room = text.length * TEXT_PIXELS * 0.65 + 6;
  const right = left + width;
  const free = height > 1.5 * TEXT_PIXELS ? 2 : 0; // above and below
  const back = {
    left: right - room,
    top: top + free,
    width: room - 2,
    height: height - 2 * free
  };
  pen.boxes([back], { color: paper, alpha: 0.85 });
  pen.text(text, right - 3, top + height / 2, {
    color: ink,
    size: TEXT_PIXELS,
    align: 'end',
    isBold
  });
}

function outlineOf({ left, top, width, height }: IBox): readonly IBox[] {
  const [x, y] = [left - 1, top - 1];
  const [right, bottom] = [left + width, top + height];
  return [
    { left: x, top: y, width: width + 2, height: 1 },
    { left: x, top: bottom, width: width + 2, height: 1 },
    { left: x, top: y, width: 1, height: height + 2 },
    { left: right, top: y, width: 1, height: height + 2 }
  ];
}
