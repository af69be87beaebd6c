import type { IModel, ModelCallback } from '../model.js';

/**
 * A model as one of its listeners sees it: all that was listened to ends at once.
 *
 * A feed belongs to its model and listens for as long as that lives. The workbench has one
 * model, and a feed for each comparison.
 */
export class ScopedModel implements IModel {
  constructor(private readonly _model: IModel) {}

  get(name: string): unknown {
    return this._model.get(name);
  }

  set(name: string, value: unknown): void {
    this._model.set(name, value);
  }

  save_changes(): void {
    this._model.save_changes();
  }

  on(event: string, callback: ModelCallback): void {
    this._listeners.push([event, callback]);
    this._model.on(event, callback);
  }

  off(event: string, callback: ModelCallback): void {
    this._model.off(event, callback);
  }

  send(message: unknown): void {
    this._model.send(message);
  }

  /**
   * Stop listening. Safe to call twice.
   */
  close(): void {
    for (const [event, callback] of this._listeners) {
      this._model.off(event, callback);
    }
    this._listeners = [];
  }

  private _listeners: [string, ModelCallback][] = [];
}
