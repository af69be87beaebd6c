import { ProtocolError } from './errors.js';
import type { IFrameHead } from './generated/wire.js';
import { readWire } from './wire.js';

const REMEDY = 'Rebuild the front end and the Python package from one version.';

/**
 * Rows of one table, as Python sends them.
 *
 * `smtc_lab.follow.frames` writes them; both read `tests/fixtures/frames.json`.
 */
export interface IFrame extends Omit<IFrameHead, 'bins' | 'first'> {
  /**
   * The rows themselves; empty in a `part` of bins.
   */
  readonly rows: IRows;

  /**
   * Bins of rows: in a `reset`, of the rows before `rows.first`, where they are too many to
   * send; in a `part`, of the rows that were asked for. Null: there are none.
   */
  readonly bins: IBins | null;
}

/**
 * Rows that follow each other.
 */
export interface IRows {
  /**
   * Number of the first row in its table, from 0.
   */
  readonly first: number;

  /**
   * One array for each column, all of one length.
   */
  readonly values: readonly Float64Array[];
}

/**
 * Rows that follow each other, in bins of equal width.
 */
export interface IBins {
  /**
   * Number of the first row of the first bin.
   */
  readonly first: number;

  /**
   * Rows of each bin, above 1.
   */
  readonly width: number;

  /**
   * For each column, the least value of each bin.
   */
  readonly low: readonly Float64Array[];

  /**
   * For each column, the greatest value of each bin.
   */
  readonly high: readonly Float64Array[];

  /**
   * For each column, the mean of each bin.
   */
  readonly mean: readonly Float64Array[];
}

/**
 * Whether a message is a frame.
 */
export function isFrame(json: unknown): boolean {
  const type: unknown =
    typeof json === 'object' && json !== null && 'type' in json
      ? json.type
      : undefined;
  return type === 'rows' || type === 'reset' || type === 'part';
}

/**
 * Read a frame from a message and its buffers.
 *
 * @param json - The message.
 * @param buffers - The rows, and behind them the bins where there are some; little-endian
 * float64, column after column.
 * @throws {@link ProtocolError} when a buffer does not hold whole columns.
 */
export function parseFrame(
  json: unknown,
  buffers: readonly DataView[]
): IFrame {
  const { type, table, columns, first, bins } = readWire('FrameHead', json);
  const [rows, values] = buffers;
  if (rows === undefined || columns.length === 0) {
    throw new ProtocolError(
      `A frame has ${buffers.length} buffers and ${columns.length} columns, but needs at ` +
        `least one of each. ${REMEDY}`
    );
  }
  return {
    type,
    table,
    columns,
    rows: { first, values: decodeColumns(rows, columns.length) },
    bins: values === undefined ? null : parseBins(bins, values, columns.length)
  };
}

/**
 * Split a buffer into columns, without a copy where its place in memory allows.
 *
 * @throws {@link ProtocolError} when the buffer does not hold whole columns.
 */
export function decodeColumns(
  buffer: DataView,
  numColumns: number
): Float64Array[] {
  const numRows = buffer.byteLength / (8 * numColumns);
  if (!Number.isInteger(numRows)) {
    throw new ProtocolError(
      `A buffer of ${buffer.byteLength} bytes does not hold ${numColumns} columns of ` +
        `float64. ${REMEDY}`
    );
  }
  const isAligned = buffer.byteOffset % 8 === 0;
  const memory = isAligned
    ? buffer.buffer
    : buffer.buffer.slice(
        buffer.byteOffset,
        buffer.byteOffset + buffer.byteLength
      );
  const begin = isAligned ? buffer.byteOffset : 0;
  return Array.from(
    { length: numColumns },
    (_, column) =>
      new Float64Array(memory, begin + column * numRows * 8, numRows)
  );
}

function parseBins(head: unknown, buffer: DataView, numColumns: number): IBins {
  const values = decodeColumns(buffer, 3 * numColumns);
  return {
    ...readWire('BinsHead', head),
    low: values.slice(0, numColumns),
    high: values.slice(numColumns, 2 * numColumns),
    mean: values.slice(2 * numColumns)
  };
}
