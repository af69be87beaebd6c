import type { IModel } from '../model.js';

/**
 * A part of a form. It is made in a host element, shows what it is told to, and tells what the
 * user did through callbacks in its properties.
 */
export interface IComponent<P> {
  readonly element: HTMLElement;

  /**
   * Show other properties; those that are not given stay. What the user is typing stays where
   * it is, as long as it means the same.
   */
  update(props: Partial<P>): void;

  /**
   * Take the component out of its host. Safe to call twice.
   */
  dispose(): void;
}

/**
 * What components have in common: properties that are merged, and then shown.
 */
export abstract class Component<P extends object> implements IComponent<P> {
  constructor(protected props: P) {}

  abstract readonly element: HTMLElement;

  update(changed: Partial<P>): void {
    this.props = { ...this.props, ...changed };
    this.show();
  }

  dispose(): void {
    this.element.remove();
  }

  /**
   * Bring the element up to date with the properties.
   */
  protected abstract show(): void;

  /**
   * Put the element, once it is there, into its host.
   */
  protected appear(host: HTMLElement): void {
    host.append(this.element);
    this.show();
  }
}

/**
 * Whether two values are the same JSON.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Call back when one of some values of a model changes.
 *
 * @returns What to call to stop it.
 */
export function onChanges(
  model: IModel,
  names: readonly string[],
  callback: () => void
): () => void {
  const events = names.map(name => `change:${name}`);
  events.forEach(event => {
    model.on(event, callback);
  });
  return () => {
    events.forEach(event => {
      model.off(event, callback);
    });
  };
}
