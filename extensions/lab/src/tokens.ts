import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import type { IModel } from '@smtc-lab/ui/model.js';
import type { IRow } from '@smtc-lab/protocol';
import type { Kind } from './connection/row.js';

/**
 * What became of the connection to the server extension: `idle` while nothing is watched, `cut`
 * while it is tried again, `refused` when trying again would not help.
 */
export type StreamState =
  | 'idle'
  | 'connecting'
  | 'connected'
  | 'cut'
  | 'refused';

/**
 * What is wrong, and what mends it.
 */
export interface IProblem {
  readonly message: string;

  /**
   * A command for a terminal, or null: the message says it all.
   */
  readonly command: string | null;
}

/**
 * The one connection of this browser tab to the server extension.
 */
export interface IStream {
  readonly state: StreamState;

  /**
   * Why there is no connection, or what else is wrong with it; null: nothing.
   */
  readonly problem: IProblem | null;

  /**
   * A signal emitted when the state or the problem changes.
   */
  readonly changed: ISignal<IStream, void>;

  /**
   * The list of all runs and comparisons, for all who show it.
   */
  readonly runs: IRuns;

  /**
   * Make a model that a server fills with what a view shows. It begins with `resume`.
   *
   * @param view - Name of the view; `runs` is the list of all.
   * @param name - Of the run or the comparison.
   */
  watch(view: string, name?: string): IWatch;

  /**
   * Try again at once.
   */
  connect(): void;

  /**
   * Ask the server for something; with a body, post it.
   *
   * @param path - Behind `smtc-lab/api/`.
   * @throws RequestError when the server refuses, with its own words.
   */
  request(path: string, body?: unknown): Promise<unknown>;
}

/**
 * A model filled by a server while somebody looks at it.
 */
export interface IWatch extends IModel, IDisposable {
  /**
   * Whether all values have come at least once.
   */
  readonly isReady: boolean;

  /**
   * Why the server does not tell; empty: it does.
   */
  readonly problem: string;

  /**
   * A signal emitted when `isReady` or `problem` changes.
   */
  readonly stateChanged: ISignal<IWatch, void>;

  /**
   * Begin, or go on. All is sent anew, so nothing is missing.
   */
  resume(): void;

  /**
   * Let the server forget it until `resume`.
   */
  pause(): void;
}

/**
 * All runs and comparisons, as they are now.
 */
export interface IRuns {
  readonly rows: readonly IRow[];

  /**
   * Whether the rows have come at least once.
   */
  readonly isReady: boolean;

  /**
   * Price of all that runs now, list price in US dollars per hour; null: a price is unknown.
   */
  readonly usdPerHourNow: number | null;

  /**
   * Why the server does not list them; empty: it does.
   */
  readonly problem: string;

  /**
   * A signal emitted when any of it changes.
   */
  readonly changed: ISignal<IRuns, void>;

  /**
   * Keep the list up to date until what is returned is disposed.
   */
  follow(): IDisposable;
}

/**
 * What the parts of the extension do for each other.
 */
export interface ILab {
  /**
   * Show the dashboard of a run or a comparison.
   */
  open(name: string, kind: Kind): Promise<void>;

  /**
   * Show the table of all runs, or runs beside each other: those of a list of names.
   */
  showTable(names?: unknown): Promise<void>;

  /**
   * Stop it, after a question where the settings want one.
   */
  stop(name: string, kind: Kind): Promise<void>;

  /**
   * Delete it, after a question where the settings want one. It can be undone for a while.
   */
  delete(name: string, kind: Kind): Promise<void>;

  /**
   * Save a run or a comparison as one HTML file.
   */
  share(name: string, kind: Kind): Promise<void>;

  /**
   * The row that is selected in the list; null: none.
   */
  selected: IRow | null;
}

/**
 * The token of the connection. Its code is loaded when somebody asks for it with
 * `app.resolveRequiredService`; a plugin that requires it would load it at the start.
 */
export const IStream = new Token<IStream>(
  '@smtc-lab/lab:IStream',
  'The connection of this browser tab to the runs of the server.'
);

/**
 * The token of the workbench.
 */
export const ILab = new Token<ILab>(
  '@smtc-lab/lab:ILab',
  'Runs and comparisons: listed, opened, stopped, deleted.'
);
