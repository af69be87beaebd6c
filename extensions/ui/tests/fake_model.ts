import type { IModel, ModelCallback } from '../src/model.js';

/**
 * A model that stands in for a host's, with what it was told to save and to send.
 */
export class FakeModel implements IModel {
  constructor(private readonly _values: Record<string, unknown>) {}

  readonly saved: Record<string, unknown>[] = [];
  readonly sent: unknown[] = [];

  get(name: string): unknown {
    return this._values[name];
  }

  set(name: string, value: unknown): void {
    this._values[name] = value;
    this.tell(`change:${name}`);
  }

  /**
   * Change some fields of what is described.
   */
  change(fields: Record<string, unknown>): void {
    this.set('info', { ...(this.get('info') as object), ...fields });
  }

  save_changes(): void {
    this.saved.push({ ...this._values });
  }

  on(event: string, callback: ModelCallback): void {
    const callbacks = this._callbacks.get(event) ?? new Set();
    this._callbacks.set(event, callbacks.add(callback));
  }

  off(event: string, callback: ModelCallback): void {
    this._callbacks.get(event)?.delete(callback);
  }

  send(message: unknown): void {
    this.sent.push(message);
  }

  tell(event: string, ...values: readonly unknown[]): void {
    this._callbacks.get(event)?.forEach(callback => {
      callback(...values);
    });
  }

  /**
   * Let rows of a table come, one value for each column; none given: one row of zeros.
   */
  rows(
    table: string,
    columns: readonly string[],
    ...rows: readonly (readonly number[])[]
  ): void {
    const given = rows.length > 0 ? rows : [columns.map(() => 0)];
    const values = columns.flatMap((_, place) =>
      given.map(row => row[place] ?? NaN)
    );
    this.tell('msg:custom', { type: 'reset', table, columns, first: 0 }, [
      new DataView(Float64Array.from(values).buffer)
    ]);
  }

  /**
   * How many listen to what changes.
   */
  get numCallbacks(): number {
    return [...this._callbacks]
      .filter(([event]) => event.startsWith('change:'))
      .reduce((sum, [, all]) => sum + all.size, 0);
  }

  private readonly _callbacks = new Map<string, Set<ModelCallback>>();
}

/**
 * Return the button with these words.
 */
export function buttonIn(root: HTMLElement, words: string): HTMLButtonElement {
  const found = [...root.querySelectorAll('button')].find(
    each => each.textContent === words
  );
  if (found === undefined) {
    throw new Error(`There is no button '${words}'.`);
  }
  return found;
}
