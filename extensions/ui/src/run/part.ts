import type { IRunInfo } from '@smtc-lab/protocol';

/**
 * A piece of the run monitor.
 */
export interface IPart {
  readonly element: HTMLElement;

  /**
   * Show what is known of the run now.
   */
  update(run: IRunInfo): void;

  /**
   * Let go of everything. Safe to call twice.
   */
  dispose(): void;
}

/**
 * A piece that folds away.
 */
export interface ISection {
  readonly element: HTMLDetailsElement;
  readonly body: HTMLElement;
}
