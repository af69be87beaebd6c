import { ProtocolError } from './errors.js';
import type { IFrame } from './frame.js';
import {
  listField,
  numberField,
  objectOf,
  textField,
  type JsonObject
} from './read.js';

/**
 * Read a table that a notebook keeps as JSON, as the frame that fills it.
 *
 * Mirrors `smtc_lab.views.run_snapshot.Curve`, where each field is explained.
 *
 * @param table - Its name.
 * @param json - Rows as they are, or bins of equal width and the last row.
 * @throws {@link ProtocolError} when a field is missing or of another kind.
 */
export function parseCurve(table: string, json: unknown): IFrame {
  const curve = objectOf(json, `Table ${table}`);
  const columns = listField(curve, 'columns', name =>
    textField({ name }, 'name')
  );
  const numRows = numberField(curve, 'num_rows');
  const width = numberField(curve, 'width');
  const mean = columnsField(curve, 'mean', columns);
  if (width === 1 || numRows === 0) {
    return {
      type: 'reset',
      table,
      columns,
      rows: { first: 0, values: mean },
      bins: null
    };
  }
  return {
    type: 'reset',
    table,
    columns,
    rows: { first: numRows - 1, values: lastRow(curve, mean) },
    bins: {
      first: 0,
      width,
      low: columnsField(curve, 'low', columns),
      high: columnsField(curve, 'high', columns),
      mean
    }
  };
}

/**
 * Return the last row. What was kept before it was kept apart has the mean of its last bin.
 */
function lastRow(
  curve: JsonObject,
  mean: readonly Float64Array[]
): Float64Array[] {
  if (curve['last'] === undefined) {
    return mean.map(column => column.slice(-1));
  }
  return listField(curve, 'last', value =>
    Float64Array.of(numberOf(value))
  ).slice();
}

function columnsField(
  curve: JsonObject,
  field: string,
  columns: readonly string[]
): Float64Array[] {
  const values = listField(curve, field, column =>
    Float64Array.from(listField({ column }, 'column', numberOf))
  );
  const lengths = new Set(values.map(column => column.length));
  if (values.length !== columns.length || lengths.size > 1) {
    throw new ProtocolError(
      `A saved table has ${values.length} columns in ${field}, of ${[...lengths].join(', ')} ` +
        `rows, but needs ${columns.length} of one length. Make it again.`
    );
  }
  return [...values];
}

/**
 * Null is a number that is not known.
 */
function numberOf(value: unknown): number {
  return value === null ? NaN : numberField({ value }, 'value');
}
