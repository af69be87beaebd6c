import { Figure } from './figure.js';
import { HeatContent } from './heat_content.js';
import type { Evidence, IAxis, ISeries } from './options.js';

const AXIS_PIXELS = 34;

/**
 * Most rows of a height, and that height in CSS pixels.
 */
const ROW_PIXELS = [
  [8, 26],
  [16, 18],
  [Infinity, 13]
] as const;

/**
 * One row of a heat map: a column of fractions, 0 to 1, over another one.
 */
export type IHeatRow = Pick<
  ISeries,
  'label' | 'table' | 'x' | 'y' | 'evidence'
> &
  Partial<Pick<ISeries, 'color'>>;

/**
 * Rows of fractions over time, for example how much of each group's processors is used.
 */
export class HeatMap {
  readonly element: HTMLElement;

  constructor(options: {
    readonly title: string;
    readonly x: IAxis;

    /**
     * What the fractions are.
     */
    readonly label: string;

    /**
     * Where all of them come from, as the label says; left out: each row says it.
     */
    readonly evidence?: Evidence;
  }) {
    const { title, x, label, evidence } = options;
    const y = { label, unit: 'fraction' } as const;
    this._content = new HeatContent(title, x, y, evidence);
    this._figure = new Figure({
      title,
      height: heightOf(1),
      content: this._content
    });
    this.element = this._figure.element;
  }

  /**
   * Show another row, below the others.
   */
  add(row: IHeatRow): void {
    this._content.add({ color: 0, ...row, as: 'line' });
    this._figure.resize(heightOf(this._content.rows.length));
    this._figure.follow(row.table);
  }

  /**
   * Outline some rows, each with a text at its end; null: not this one.
   */
  mark(marks: readonly (string | null)[]): void {
    this._content.mark(marks);
    this._figure.schedule();
  }

  /**
   * Draw soon.
   */
  schedule(): void {
    this._figure.schedule();
  }

  /**
   * Say that no more rows will come.
   */
  end(): void {
    this._figure.end();
  }

  /**
   * Let go of everything. Safe to call twice.
   */
  dispose(): void {
    this._figure.dispose();
  }

  private readonly _content: HeatContent;
  private readonly _figure: Figure;
}

/**
 * Return the height of so many rows; more of them are never lower.
 */
function heightOf(count: number): number {
  let height = 0;
  let before = 0;
  for (const [most, pixels] of ROW_PIXELS) {
    if (count > before) {
      height = Math.max(height, Math.min(count, most) * pixels);
    }
    before = most;
  }
  return AXIS_PIXELS + height;
}
