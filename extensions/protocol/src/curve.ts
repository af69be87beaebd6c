import { ProtocolError } from './errors.js';
import type { IFrame } from './frame.js';
import { readWire } from './wire.js';

/**
 * Read a table that a notebook keeps as JSON, as the frame that fills it.
 *
 * @param table - Its name.
 * @param json - Rows as they are, or bins of equal width and the last row.
 * @throws {@link ProtocolError} when a field is missing or of another kind.
 */
export function parseCurve(table: string, json: unknown): IFrame {
  const curve = readWire('CurveInfo', json);
  const { columns, numRows, width, last } = curve;
  const arrays = (field: 'high' | 'low' | 'mean'): Float64Array[] =>
    arraysOf(field, curve[field] ?? [], columns.length);
  const mean = arrays('mean');
  const frame = { type: 'reset', table, columns } as const;
  if (width === 1 || numRows === 0) {
    return { ...frame, rows: { first: 0, values: mean }, bins: null };
  }
  // what was kept before the last row was kept apart has the mean of its last bin
  const lastRow =
    last?.map(value => Float64Array.of(value ?? NaN)) ??
    mean.map(column => column.slice(-1));
  const low = arrays('low');
  const high = arrays('high');
  return {
    ...frame,
    rows: { first: numRows - 1, values: lastRow },
    bins: { first: 0, width, low, high, mean }
  };
}

function arraysOf(
  field: string,
  columns: readonly (readonly (number | null)[])[],
  numColumns: number
): Float64Array[] {
  const lengths = new Set(columns.map(column => column.length));
  if (columns.length !== numColumns || lengths.size > 1) {
    throw new ProtocolError(
      `A saved table has ${columns.length} columns in ${field}, of ${[...lengths].join(', ')} ` +
        `rows, but needs ${numColumns} of one length. Make it again.`
    );
  }
  return columns.map(column => Float64Array.from(column, each => each ?? NaN));
}
