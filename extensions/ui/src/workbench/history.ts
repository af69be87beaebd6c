const SAME_GESTURE_MS = 600;
const MOST = 100;

/**
 * States that were left, and can be gone back to. Changes in quick succession, as of a drag or of
 * a word that is typed, are one.
 */
export class History<T> {
  /**
   * @param now - Milliseconds of a clock that never goes back.
   */
  constructor(private readonly _now: () => number = () => performance.now()) {}

  get canUndo(): boolean {
    return this._past.length > 0;
  }

  get canRedo(): boolean {
    return this._future.length > 0;
  }

  /**
   * States that can be gone back to, the newest last.
   */
  get past(): readonly T[] {
    return this._past;
  }

  /**
   * States that can be gone forth to, the next one last.
   */
  get future(): readonly T[] {
    return this._future;
  }

  /**
   * Go on from what another history had.
   */
  restore(past: readonly T[], future: readonly T[]): void {
    this._past = past;
    this._future = future;
    this._gesture = '';
  }

  /**
   * Take note of the state that a change leaves.
   *
   * @param gesture - What was changed: another gesture is another step, however quick.
   */
  leave(state: T, gesture: string): void {
    const now = this._now();
    const isSame =
      gesture === this._gesture && now - this._at < SAME_GESTURE_MS;
    this._at = now;
    this._gesture = gesture;
    this._future = [];
    if (!isSame) {
      this._past = [...this._past, state].slice(-MOST);
    }
  }

  /**
   * Return the state before the last change; null: there was none.
   */
  undo(present: T): T | null {
    const state = this._past.at(-1);
    if (state === undefined) {
      return null;
    }
    this._past = this._past.slice(0, -1);
    this._future = [...this._future, present];
    this._gesture = '';
    return state;
  }

  /**
   * Return the state that was left last by `undo`; null: there is none.
   */
  redo(present: T): T | null {
    const state = this._future.at(-1);
    if (state === undefined) {
      return null;
    }
    this._future = this._future.slice(0, -1);
    this._past = [...this._past, present];
    this._gesture = '';
    return state;
  }

  private _past: readonly T[] = [];
  private _future: readonly T[] = [];
  private _at = -Infinity;
  private _gesture = '';
}
