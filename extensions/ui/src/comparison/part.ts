import type { IComparisonInfo } from '@smtc-lab/protocol';

/**
 * A piece of the comparison monitor.
 */
export interface IPart {
  readonly element: HTMLElement;

  /**
   * Show where the comparison stands now.
   */
  update(info: IComparisonInfo): void;

  /**
   * Let go of everything. Safe to call twice.
   */
  dispose(): void;
}
