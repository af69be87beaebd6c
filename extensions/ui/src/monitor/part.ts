import { patch } from '../patch.js';

/**
 * A piece of a monitor.
 *
 * @typeParam T - The description of what is watched.
 */
export interface IPart<T> {
  readonly element: HTMLElement;

  /**
   * Show what is known now.
   */
  update(info: T): void;

  /**
   * Let go of everything. Safe to call twice.
   */
  dispose?(): void;
}

/**
 * A piece that is written down whole, and changed only where it is another: what a user has
 * selected stays.
 *
 * @param draw - Returns what is in the element; what listens in it may know nothing of `info`.
 */
export function drawn<T>(
  element: HTMLElement,
  draw: (info: T) => readonly Node[]
): IPart<T> {
  return {
    element,
    update(info) {
      patch(element, draw(info));
    }
  };
}
