import { mark } from '../i18n.js';
import type { Table } from '../live/table.js';
import type { IEndLabel } from './end_labels.js';
import type { Link } from './link.js';

/**
 * Where a number comes from. Each has a word and a mark of its own in every chart: measured
 * is drawn solid, emulated hollow, predicted dotted and behind the others.
 */
export type Evidence = (typeof EVIDENCE)[number];

export const EVIDENCE = [
  mark('measured'),
  mark('emulated'),
  mark('predicted')
] as const;

/**
 * What a number is; decides how axes, tooltips and tables write it.
 *
 * `s`: seconds, shown in s, ms or µs. `USD`: dollars. `fraction`: 0 to 1, shown in %. `bytes`,
 * `bytes/s`: shown with binary prefixes. `ratio`: shown as 1.23×. `count`: a whole number.
 */
export type Unit = (typeof UNITS)[number];

export const UNITS = [
  's',
  'USD',
  'fraction',
  'bytes',
  'bytes/s',
  'ratio',
  'count',
  'number'
] as const;

/**
 * One axis.
 */
export interface IAxis {
  readonly label: string;
  readonly unit: Unit;

  /**
   * Value that is always in view, for example 0 or, for a ratio, 1.
   */
  readonly including?: number;
}

/**
 * A chart before it has any series.
 */
export interface IChartOptions {
  readonly title: string;
  readonly x: IAxis;
  readonly y: IAxis;

  /**
   * Height of the plot in CSS pixels.
   */
  readonly height?: number;

  /**
   * The charts of the page with the same x axis: cursor and zoom of one are those of all.
   */
  readonly link?: Link | undefined;

  /**
   * Ask for older rows of a table in more detail than is kept here; without it they are shown
   * in bins.
   */
  readonly read?: (
    table: string,
    first: number,
    end: number,
    most: number
  ) => void;
}

/**
 * One series of a chart: a column of a table over another one.
 */
export interface ISeries {
  /**
   * What the legend calls it. Text of a user: never markup.
   */
  readonly label: string;

  readonly table: Table;

  /**
   * Column of the x values, which never decrease.
   */
  readonly x: string;

  /**
   * What stands on the axis in place of an x; it never decreases. Left out: x itself.
   */
  readonly along?: ((x: number) => number) | undefined;

  /**
   * Column of the y values; NaN is a gap.
   */
  readonly y: string;

  /**
   * What y is multiplied with, for example a price.
   */
  readonly factor?: number;

  /**
   * What is taken off y from an x on, before it is multiplied.
   */
  readonly less?: readonly { readonly from: number; readonly by: number }[];

  /**
   * `points`: each row. `line`: rows joined. `rolling`: the mean of the last `window` rows
   * with its 95 % interval as a band, over its points; shaded parts are left out of it. `interval`: y with the columns `low`
   * and `high` as a band.
   */
  readonly as: 'points' | 'line' | 'rolling' | 'interval';

  /**
   * Rows of a rolling mean.
   */
  readonly window?: number;

  readonly low?: string;
  readonly high?: string;

  readonly evidence: Evidence;

  /**
   * Place in the palette, so that a set-up has one colour in all charts.
   */
  readonly color: number;
}

/**
 * A shaded part of a chart, for example the warm-up; an upright line where it has no width.
 */
export interface IShade {
  readonly label: string;

  /**
   * What stands there where the label has no room. With it, the label is told in tables, too.
   */
  readonly short?: string;
  readonly from: number;
  readonly to: number;

  /**
   * `lost`: hatched, as what is paid for nothing. `gap`: lines are broken in it.
   */
  readonly look?: 'lost' | 'gap';
}

/**
 * A chart in an element. `Chart` in `chart.ts` is the only implementation.
 */
export interface IChart {
  readonly element: HTMLElement;

  /**
   * Show another series.
   */
  add(series: ISeries): void;

  /**
   * Replace the shaded parts.
   */
  shade(shades: readonly IShade[]): void;

  /**
   * Replace what stands at the ends of the lines. Where there is room for it, these lines are in
   * no legend.
   */
  label(labels: readonly IEndLabel[]): void;

  /**
   * Draw at the next animation frame. Any number of calls make one drawing.
   */
  schedule(): void;

  /**
   * Say that no more rows will come.
   */
  end(): void;

  /**
   * Let go of everything. Safe to call twice.
   */
  dispose(): void;
}
