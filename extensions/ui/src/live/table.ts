import { ProtocolError, type IBins, type IFrame } from '@smtc-lab/protocol';
import { History } from './history.js';
import { Ring } from './ring.js';

const CAPACITY = 65_536;
const MOST_BINS = 4_096;

/**
 * The rows of one table as they arrive: the last ones as they are, all of them in bins. It
 * belongs to a model, not to a place on the page, so a chart that is opened late, twice or
 * again shows everything. Memory is bounded.
 */
export class Table {
  /**
   * @param name - What frames call it.
   * @param columns - Names of its columns. The first one never decreases.
   * @param capacity - Rows that are kept as they are.
   * @param mostBins - Bins of all others, at most; an even number.
   */
  constructor(
    readonly name: string,
    readonly columns: readonly string[],
    capacity: number = CAPACITY,
    mostBins: number = MOST_BINS
  ) {
    this._ring = new Ring(columns.length, capacity);
    this._history = new History(columns.length, mostBins);
  }

  /**
   * Rows that came so far, also those that are kept in bins only.
   */
  get numRows(): number {
    return this._next;
  }

  /**
   * Number of the oldest row that is kept as it is.
   */
  get firstKept(): number {
    return this._next - this._ring.length;
  }

  /**
   * Bins of the rows that were asked for last, or null.
   */
  get part(): IFrame | null {
    return this._part;
  }

  /**
   * Whether the table has this column.
   */
  has(column: string): boolean {
    return this.columns.includes(column);
  }

  /**
   * Return the kept rows of a column, oldest first. Do not hold on to it: later rows
   * overwrite it.
   *
   * @throws RangeError when there is no such column.
   */
  column(name: string): Float64Array {
    return this._ring.column(this.place(name));
  }

  /**
   * Return the place of a column.
   *
   * @throws RangeError when there is no such column.
   */
  place(name: string): number {
    const place = this.columns.indexOf(name);
    if (place < 0) {
      throw new RangeError(
        `Table '${this.name}' has no column '${name}'. It has ${this.columns.join(', ')}.`
      );
    }
    return place;
  }

  /**
   * Return bins of the rows that are older than the kept ones. Do not hold on to them: later
   * rows overwrite them.
   */
  olderBins(): IBins {
    this._older ??= this._history.before(this.firstKept);
    return this._older;
  }

  /**
   * Take in a frame.
   *
   * @returns False when rows are missing before it: they are taken as unknown, until all of
   * them are asked for again.
   * @throws {@link ProtocolError} when it has other columns.
   */
  take(frame: IFrame): boolean {
    if (frame.columns.join() !== this.columns.join()) {
      throw new ProtocolError(
        `Table '${this.name}' has the columns ${this.columns.join(', ')}, but was sent ` +
          `${frame.columns.join(', ')}. Show it again: run its cell again.`
      );
    }
    this._older = null;
    let isWhole = true;
    if (frame.type === 'part') {
      this._part = frame;
    } else if (frame.type === 'reset') {
      this._reset(frame);
    } else {
      isWhole = this._append(frame);
    }
    this._listeners.forEach(listener => {
      listener();
    });
    return isWhole;
  }

  /**
   * Call back after each frame.
   *
   * @returns What to call to be left alone.
   */
  subscribe(listener: () => void): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  private _append(frame: IFrame): boolean {
    const { first, values } = frame.rows;
    const given = values[0]?.length ?? 0;
    const missing = first - this._next;
    if (missing > 0) {
      this._ring.clear();
      this._history.skip(missing);
      this._next = first;
    }
    const known = this._next - first;
    if (known < given) {
      const fresh = values.map(column => column.subarray(known));
      this._ring.append(fresh);
      this._history.append(fresh);
      this._next = first + given;
    }
    return missing <= 0;
  }

  private _reset(frame: IFrame): void {
    const { first, values } = frame.rows;
    this._ring.clear();
    this._history.reset(frame.bins, first);
    this._ring.append(values);
    this._history.append(values);
    this._next = first + (values[0]?.length ?? 0);
    this._part = null;
  }

  private readonly _ring: Ring;
  private readonly _history: History;
  private readonly _listeners = new Set<() => void>();
  private _next = 0;
  private _part: IFrame | null = null;
  private _older: IBins | null = null;
}
