import type { IModel } from '../model.js';

/**
 * The event by which a view whose kernel is silent asks the page for another model of what it
 * shows. A host with a server that can tell answers; in any other page nobody listens.
 */
export const FOLLOW_EVENT = 'smtc-follow';

/**
 * What the event carries.
 */
export interface IFollowDetail {
  /**
   * Name of the view: `run-monitor`, …
   */
  readonly view: string;

  /**
   * What it shows.
   */
  readonly name: string;

  /**
   * Who answers gives what ends the answer; called at once.
   */
  readonly begun: (end: () => void) => void;

  /**
   * Called, later and once, with a model that has all values.
   */
  readonly take: (model: IModel) => void;

  /**
   * Called when it cannot be answered now, as where the server is gone that has the code for it.
   */
  readonly fail: () => void;
}
