import type { ModelCallback } from './model.js';

/**
 * Who listens to which event of a model.
 */
export class ModelEvents {
  on(event: string, callback: ModelCallback): void {
    const callbacks = this._callbacks.get(event) ?? new Set();
    this._callbacks.set(event, callbacks.add(callback));
  }

  off(event: string, callback: ModelCallback): void {
    this._callbacks.get(event)?.delete(callback);
  }

  /**
   * Call back everybody who listens to an event now.
   */
  tell(event: string, ...values: readonly unknown[]): void {
    for (const callback of [...(this._callbacks.get(event) ?? [])]) {
      callback(...values);
    }
  }

  /**
   * Forget everybody.
   */
  clear(): void {
    this._callbacks.clear();
  }

  private readonly _callbacks = new Map<string, Set<ModelCallback>>();
}
