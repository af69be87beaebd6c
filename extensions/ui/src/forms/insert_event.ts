/**
 * The event that asks the page to put code into a cell. A host that can does so, and calls
 * `preventDefault`; in any other page nobody listens, and the code is copied instead.
 */
export const INSERT_EVENT = 'smtc-insert-cell';

/**
 * What the event carries.
 */
export interface IInsertDetail {
  readonly code: string;
}
