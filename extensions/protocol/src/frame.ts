import { ProtocolError } from './errors.js';
import {
  listField,
  numberField,
  objectOf,
  textField,
  wordField
} from './read.js';

const REMEDY = 'Rebuild the front end and the Python package from one version.';

/**
 * Rows of one table, as Python sends them.
 *
 * Mirrors `smtc_lab.follow.frames`; both read `tests/fixtures/frames.json`.
 */
export interface IFrame {
  /**
   * `rows` go behind those that are there, `reset` replaces all of them, and `part` is what
   * was asked for with {@link IReadRequest}: it is looked at, not kept.
   */
  readonly type: 'rows' | 'reset' | 'part';

  /**
   * Name of the table.
   */
  readonly table: string;

  /**
   * Names of the columns.
   */
  readonly columns: readonly string[];

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
 * Asks Python for the rows of a table between two row numbers, in at most so many bins.
 */
export interface IReadRequest {
  readonly type: 'read';
  readonly table: string;
  readonly first: number;
  readonly end: number;
  readonly most: number;
}

/**
 * Asks Python to send a table from its begin, because messages were lost or came too early.
 * Without a table: all tables.
 */
export interface IResyncRequest {
  readonly type: 'resync';
  readonly table?: string;
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
  const head = objectOf(json, 'A frame');
  const columns = listField(head, 'columns', columnName);
  const [rows, bins] = buffers;
  if (rows === undefined || columns.length === 0) {
    throw new ProtocolError(
      `A frame has ${buffers.length} buffers and ${columns.length} columns, but needs at ` +
        `least one of each. ${REMEDY}`
    );
  }
  return {
    type: wordField(head, 'type', ['rows', 'reset', 'part'] as const),
    table: textField(head, 'table'),
    columns,
    rows: {
      first: numberField(head, 'first'),
      values: decodeColumns(rows, columns.length)
    },
    bins: bins === undefined ? null : parseBins(head['bins'], bins, columns)
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

function parseBins(
  json: unknown,
  buffer: DataView,
  columns: readonly string[]
): IBins {
  const head = objectOf(json, 'The bins of a frame');
  const n = columns.length;
  const values = decodeColumns(buffer, 3 * n);
  return {
    first: numberField(head, 'first'),
    width: numberField(head, 'width'),
    low: values.slice(0, n),
    high: values.slice(n, 2 * n),
    mean: values.slice(2 * n)
  };
}

function columnName(value: unknown): string {
  if (typeof value !== 'string') {
    throw new ProtocolError(
      `A column is named ${JSON.stringify(value)}, but needs text. ${REMEDY}`
    );
  }
  return value;
}
