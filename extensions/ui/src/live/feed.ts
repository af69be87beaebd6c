import { isFrame, parseFrame, type IFrame } from '@smtc-lab/protocol';
import type { IModel } from '../model.js';
import { Table } from './table.js';

const FIRST_PATIENCE_MS = 5_000;

/**
 * The tables of one model, filled by its frames. What was lost is asked for again.
 */
export class Feed {
  /**
   * @param model - Where frames come from. They are listened to from now on.
   * @param capacity - Rows of each table that are kept as they are; undefined: the default.
   */
  constructor(
    private readonly _model: IModel,
    private readonly _capacity?: number
  ) {
    _model.on(
      'msg:custom',
      (message: unknown, buffers: readonly DataView[]) => {
        if (isFrame(message)) {
          this._take(parseFrame(message, buffers));
        }
      }
    );
    _model.send({ type: 'resync' }); // what was sent before somebody listened
  }

  /**
   * Return a table, or undefined: no row of it has come yet.
   */
  table(name: string): Table | undefined {
    return this._tables.get(name);
  }

  /**
   * Whether the newest row of a table has a number in a column.
   */
  hasNumbers(name: string, column: string): boolean {
    const newest = this.table(name)?.column(column).at(-1) ?? NaN;
    return !Number.isNaN(newest);
  }

  /**
   * All tables, in the order in which they came.
   */
  get tables(): readonly Table[] {
    return [...this._tables.values()];
  }

  /**
   * Call back when a table comes that was not there.
   *
   * @returns What to call to be left alone.
   */
  onTable(listener: (table: Table) => void): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  /**
   * Ask for the rows between two row numbers, in at most so many bins. They come as the
   * table's `part`.
   */
  read(table: string, first: number, end: number, most: number): void {
    this._model.send({ type: 'read', table, first, end, most });
  }

  private _take(frame: IFrame): void {
    let table = this._tables.get(frame.table);
    const isNew = table === undefined;
    table ??= new Table(frame.table, frame.columns, this._capacity);
    const isWhole = table.take(frame);
    if (frame.type === 'reset') {
      this._missing.delete(frame.table);
    } else if (!isWhole || this._missing.has(frame.table)) {
      this._askAgain(frame.table);
    }
    if (isNew) {
      this._tables.set(frame.table, table);
      for (const listener of this._listeners) {
        listener(table);
      }
    }
  }

  /**
   * Ask for a whole table, unless it was asked for lately: a kernel that runs a cell sends
   * rows, but answers only when the cell has ended, and then each time it was asked.
   */
  private _askAgain(name: string): void {
    const now = performance.now();
    const asked = this._missing.get(name) ?? {
      againMs: this._allAskedMs + FIRST_PATIENCE_MS,
      patienceMs: FIRST_PATIENCE_MS
    };
    this._missing.set(name, asked);
    if (now >= asked.againMs) {
      const patienceMs = 2 * asked.patienceMs;
      this._missing.set(name, { againMs: now + patienceMs, patienceMs });
      this._model.send({ type: 'resync', table: name });
    }
  }

  private readonly _allAskedMs = performance.now();
  private readonly _tables = new Map<string, Table>();
  private readonly _listeners = new Set<(table: Table) => void>();
  private readonly _missing = new Map<
    string,
    { readonly againMs: number; readonly patienceMs: number }
  >();
}
