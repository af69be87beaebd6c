import type { IInterval } from '@smtc-lab/protocol';
import type { ISeries } from '../charts/options.js';
import { Table } from '../live/table.js';

const COLUMNS = ['step', 'mean', 'low', 'high'] as const;

/**
 * What was predicted of a step, as a level line over the steps so far.
 */
export class PredictedSteps {
  /**
   * Draw the line up to the steps that were made.
   */
  update({ mean, low, high }: IInterval, end: number): void {
    if (end <= this._end) {
      return;
    }
    const { numRows } = this._table;
    const ends = numRows === 0 ? [0, end] : [end];
    this._end = end;
    this._table.take({
      type: 'rows',
      table: this._table.name,
      columns: [...COLUMNS],
      rows: {
        first: numRows,
        values: [
          Float64Array.from(ends),
          ...[mean, low, high].map(value =>
            Float64Array.from(ends, () => value)
          )
        ]
      },
      bins: null
    });
  }

  /**
   * Return the line with its interval.
   */
  series(label: string, color: number): ISeries {
    return {
      label,
      table: this._table,
      x: 'step',
      y: 'mean',
      low: 'low',
      high: 'high',
      as: 'interval',
      evidence: 'predicted',
      color
    };
  }

  private readonly _table = new Table('predicted', COLUMNS);
  private _end = 0;
}
