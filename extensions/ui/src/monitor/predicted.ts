import type { IInterval } from '@smtc-lab/protocol';
import type { ISeries } from '../charts/options.js';
import { Table } from '../live/table.js';

const COLUMNS = ['step', 'mean', 'low', 'high'];

/**
 * What was predicted of each step.
 */
export interface IPrediction {
  readonly label: string;
  readonly color: number;

  /**
   * Null: nobody asked for it.
   */
  readonly of: IInterval | null;

  /**
   * Steps so far.
   */
  readonly steps: number;
}

/**
 * A prediction as a level line with its interval, from the first step to the newest.
 */
export class PredictedSteps {
  constructor({ label, color }: IPrediction) {
    this.series = {
      label,
      table: new Table('predicted', COLUMNS),
      x: 'step',
      y: 'mean',
      low: 'low',
      high: 'high',
      as: 'interval',
      evidence: 'predicted',
      color
    };
  }

  readonly series: ISeries;

  /**
   * Draw the line up to the steps that were made.
   */
  update({ of, steps }: IPrediction): void {
    const { table } = this.series;
    if (
      of !== null &&
      (table.numRows === 0 || steps > (table.column('step')[1] ?? 0))
    ) {
      const level = [of.mean, of.low, of.high].map(value => [value, value]);
      const values = [[0, steps], ...level].map(row => Float64Array.from(row));
      table.take({
        type: 'reset',
        table: table.name,
        columns: COLUMNS,
        rows: { first: 0, values },
        bins: null
      });
    }
  }
}
