import type { IGeometry } from './paint.js';
import type { IAxis } from './options.js';
import type { IPen } from './pen.js';
import type { IRange } from './ranges.js';
import type { ITheme } from './theme.js';

/**
 * What a figure shows: a chart of series, or a heat map. The figure knows how to show it, to
 * zoom, to point and to save.
 */
export interface IContent {
  readonly x: IAxis;
  readonly y: IAxis;

  /**
   * Names of the rows of the y axis, from the top, where it has no numbers; null: it has.
   */
  readonly rows: readonly string[] | null;

  /**
   * Return the room at the right of the plot that it writes into, in CSS pixels; left out: it
   * writes nothing there.
   *
   * @param width - Of the plot with that room.
   */
  roomFor?(width: number): number;

  /**
   * Return from where to where the x axis goes, or null: there is nothing yet.
   */
  extent(): IRange | null;

  /**
   * Get ready to paint a part of the x axis.
   *
   * @param columns - Columns of pixels.
   * @returns The part of the y axis that is seen.
   */
  arrange(seen: IRange, columns: number): IRange;

  /**
   * Paint what was arranged.
   */
  paint(pen: IPen, geometry: IGeometry, theme: ITheme): void;

  /**
   * Return the rows next to an x, or null: there are none.
   */
  readout(x: number): IReadout | null;

  /**
   * Return the x of the next row, or null: there is none.
   *
   * @param direction - 1 towards the end, -1 towards the begin.
   */
  next(x: number, direction: 1 | -1): number | null;

  /**
   * Say in one sentence what is seen.
   */
  summary(): string;

  /**
   * Return what is seen as a table.
   *
   * @param most - Rows of the table.
   */
  table(seen: IRange, most: number): ITextTable;

  /**
   * Return all rows that are kept, as lines of a CSV file; the first has names and units.
   */
  csv(): Iterable<readonly (string | number)[]>;

  /**
   * Return what explains the marks in a saved image.
   */
  key(): readonly IKeyItem[];
}

/**
 * What the tooltip says.
 */
export interface IReadout {
  readonly x: number;
  readonly lines: readonly {
    readonly label: string;
    readonly text: string;

    /**
     * Place in the palette, or null: none.
     */
    readonly color: number | null;
  }[];
}

/**
 * A table of texts.
 */
export interface ITextTable {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * One series in the legend of a saved image.
 */
export interface IKeyItem {
  readonly label: string;
  readonly paint: (
    pen: IPen,
    box: { left: number; top: number; width: number; height: number },
    theme: ITheme
  ) => void;
}
