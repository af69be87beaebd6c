import type { ModelCallback } from './model.js';

/**
 * What models that no kernel stands behind have in common: named values, and who listens.
 */
export class BaseModel {
  /**
   * @param values - By their names.
   */
  constructor(values: Readonly<Record<string, unknown>> = {}) {
    this.values = new Map(Object.entries(values));
  }

  get(name: string): unknown {
    return this.values.get(name);
  }

  set(name: string, value: unknown): void {
    this.values.set(name, value);
    this.tell(`change:${name}`);
  }

  on(event: string, callback: ModelCallback): void {
    const callbacks = this.callbacks.get(event) ?? new Set();
    this.callbacks.set(event, callbacks.add(callback));
  }

  off(event: string, callback: ModelCallback): void {
    this.callbacks.get(event)?.delete(callback);
  }

  /**
   * Call back everybody who listens to an event now.
   */
  tell(event: string, ...values: readonly unknown[]): void {
    for (const callback of [...(this.callbacks.get(event) ?? [])]) {
      callback(...values);
    }
  }

  protected readonly values: Map<string, unknown>;
  protected readonly callbacks = new Map<string, Set<ModelCallback>>();
}
