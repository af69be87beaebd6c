import { Figure } from './figure.js';
import { HeatContent } from './heat_content.js';
import type { IAxis, ISeries } from './options.js';

const ROW_PIXELS = 26;
const AXIS_PIXELS = 34;

/**
 * One row of a heat map: a column of fractions, 0 to 1, over another one.
 */
export type IHeatRow = Pick<
  ISeries,
  'label' | 'table' | 'x' | 'y' | 'evidence'
>;

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
  }) {
    const { title, x, label } = options;
    this._content = new HeatContent(title, x, { label, unit: 'fraction' });
    this._figure = new Figure({
      title,
      height: AXIS_PIXELS + ROW_PIXELS,
      content: this._content
    });
    this.element = this._figure.element;
  }

  /**
   * Show another row, below the others.
   */
  add(row: IHeatRow): void {
    this._content.add({ ...row, as: 'line', color: 0 });
    const { length } = this._content.rows;
    this._figure.resize(AXIS_PIXELS + length * ROW_PIXELS);
    this._figure.follow(row.table);
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
