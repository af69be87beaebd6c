import type { Table } from '../live/table.js';
import { Throttle } from './drawing.js';
import type { IChartOptions, ISeries } from './options.js';
import type { IRange } from './ranges.js';
import { olderRows, rowsOf } from './segments.js';

const EVERY_MS = 300;
const PATIENCE_MS = 10_000; // of one who asked for the same before
const DETAIL = 2; // bins for each column of pixels

/**
 * Asks for old rows in more detail than their bins have, where somebody looks closely.
 */
export class Older {
  constructor(private readonly _read: NonNullable<IChartOptions['read']>) {}

  /**
   * Ask for what is seen, unless it is there or was asked for.
   *
   * @param columns - Columns of pixels.
   */
  look(series: readonly ISeries[], seen: IRange, columns: number): void {
    for (const one of series) {
      const rows = olderRows(one, seen);
      const most = DETAIL * columns;
      if (rows !== null && isCoarse(one.table, rows, most)) {
        this._wanted.set(one.table, { ...rows, most });
      }
    }
    if (this._wanted.size > 0) {
      this._throttle.ask();
    }
  }

  dispose(): void {
    this._throttle.dispose();
  }

  private readonly _wanted = new Map<
    Table,
    { readonly first: number; readonly end: number; readonly most: number }
  >();
  private readonly _asked = new Map<
    Table,
    { readonly key: string; readonly atMs: number }
  >();
  private readonly _throttle = new Throttle(EVERY_MS, () => {
    for (const [table, { first, end, most }] of this._wanted) {
      const key = `${first} ${end}`;
      const asked = this._asked.get(table);
      const atMs = performance.now();
      if (asked?.key !== key || atMs - asked.atMs > PATIENCE_MS) {
        this._asked.set(table, { key, atMs });
        this._read(table.name, first, end, most);
      }
    }
    this._wanted.clear();
  });
}

/**
 * Whether what is there of some rows is less than can be seen.
 */
function isCoarse(
  table: Table,
  { first, end }: { readonly first: number; readonly end: number },
  most: number
): boolean {
  const { width } = table.olderBins();
  if (width === 1 || (end - first) / width >= most) {
    return false;
  }
  const { part } = table;
  if (part === null) {
    return true;
  }
  const there = rowsOf(part);
  const partWidth = part.bins?.width ?? 1;
  const isThere = there.first <= first && there.end >= end;
  return !isThere || (partWidth > 1 && (end - first) / partWidth < most / 2);
}
