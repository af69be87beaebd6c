import { BaseModel } from '../src/base_model.js';
import { viewNamed } from '../src/views.js';
import type { IModel, IView } from '../src/model.js';

/**
 * A model that stands in for a host's, with what it was told to save and to send.
 */
export class FakeModel extends BaseModel implements IModel {
  readonly saved: Record<string, unknown>[] = [];
  readonly sent: unknown[] = [];

  /**
   * Change some fields of what is described.
   */
  change(fields: Record<string, unknown>): void {
    this.set('info', { ...(this.get('info') as object), ...fields });
  }

  save_changes(): void {
    this.saved.push(Object.fromEntries(this.values));
  }

  send(message: unknown): void {
    this.sent.push(message);
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
    return [...this.callbacks]
      .filter(([event]) => event.startsWith('change:'))
      .reduce((sum, [, all]) => sum + all.size, 0);
  }
}

/**
 * What the tables of a run have.
 */
export const STEPS = [
  ...['step', 'time_s', 'step_time_s', 'data_wait_s'],
  ...['device_time_s', 'device']
];
export const HOST = [
  ...['time_s', 'cpu', 'memory_bytes'],
  ...['received_per_s', 'sent_per_s', 'gpu']
];

/**
 * Show a model in an element of the page.
 *
 * @returns What to call when it goes away.
 */
export function shownIn(
  el: HTMLElement,
  model: IModel,
  view: string | IView
): () => void {
  document.body.replaceChildren(el);
  const shown = typeof view === 'string' ? viewNamed(view) : view;
  return shown.render({ model, el, state: shown.initialize(model) });
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
