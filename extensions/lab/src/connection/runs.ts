import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';
import { listField, readWire, type IRow } from '@smtc-lab/protocol';
import type { IRuns, IWatch } from '../tokens.js';
import { priceNow } from './price.js';
import { isLive, keyOf } from './row.js';

/**
 * The list of runs, shared by all who show it.
 */
export class Runs implements IRuns {
  /**
   * @param _watch - Of the view `runs`.
   */
  constructor(private readonly _watch: IWatch) {
    this._watch.on('change:runs', () => {
      this._rows.clear();
      this._put(this._watch.get('runs'));
    });
    this._watch.on('change:rows_changed', () => {
      this._put(this._watch.get('rows_changed'));
    });
    this._watch.on('change:removed', () => {
      this._remove(this._watch.get('removed'));
    });
    this._watch.stateChanged.connect(() => {
      this._changed.emit();
    });
  }

  get rows(): readonly IRow[] {
    this._sorted ??= [...this._rows.values()].sort(newestFirst);
    return this._sorted;
  }

  get isReady(): boolean {
    return this._watch.isReady;
  }

  get usdPerHourNow(): number | null {
    const { usdPerHour, numUnknown } = priceNow(this.rows);
    return numUnknown === 0 ? usdPerHour : null;
  }

  get problem(): string {
    return this._watch.problem;
  }

  get changed(): ISignal<IRuns, void> {
    return this._changed;
  }

  follow(): IDisposable {
    this._followers += 1;
    this._watch.resume();
    return new DisposableDelegate(() => {
      this._followers -= 1;
      if (this._followers === 0) {
        this._watch.pause();
      }
    });
  }

  private _put(json: unknown): void {
    const rows = listField({ rows: json }, 'rows', item =>
      readWire('Row', item)
    );
    for (const row of rows) {
      this._rows.set(keyOf(row), row);
    }
    this._emit();
  }

  private _remove(json: unknown): void {
    const removed = new Set(listField({ removed: json }, 'removed', String));
    for (const [key, { name }] of this._rows) {
      if (removed.has(name)) {
        this._rows.delete(key);
      }
    }
    this._emit();
  }

  private _emit(): void {
    this._sorted = null;
    this._changed.emit();
  }

  private readonly _rows = new Map<string, IRow>();
  private readonly _changed = new Signal<IRuns, void>(this);
  private _sorted: readonly IRow[] | null = null;
  private _followers = 0;
}

/**
 * What runs stands before what has ended, the newest of each first.
 */
function newestFirst(one: IRow, other: IRow): number {
  return (
    Number(isLive(other)) - Number(isLive(one)) ||
    (other.startedS ?? Infinity) - (one.startedS ?? Infinity) ||
    (one.name < other.name ? 1 : -1)
  );
}
