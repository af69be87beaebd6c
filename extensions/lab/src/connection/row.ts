/**
 * What a row stands for.
 */
export type Kind = 'run' | 'comparison';

const LIVE: readonly string[] = ['Pending', 'InProgress', 'Stopping'];

/**
 * One run or comparison in the list. Texts are data of users.
 *
 * Mirrors `smtc_lab.views.server.list_row`.
 */
export interface IRow {
  readonly name: string;
  readonly kind: Kind;
  readonly state: string;
  readonly reason: string;

  /**
   * Seconds since the epoch; null: not begun.
   */
  readonly startedS: number | null;
  readonly endedS: number | null;
  readonly cluster: string;
  readonly entryPoint: string;
  readonly usdPerHour: number | null;
  readonly usdSoFar: number | null;
  readonly steps: number | null;
  readonly maxSteps: number | null;

  /**
   * Mean of the last seconds; null: no step has ended lately.
   */
  readonly stepTimeS: number | null;
  readonly evidence: 'measured' | 'emulated';
}

/**
 * Whether something runs, or is about to.
 */
export function isLive(row: IRow): boolean {
  return LIVE.includes(row.state);
}

/**
 * Return what no other row has.
 */
export function keyOf(row: {
  readonly name: string;
  readonly kind: Kind;
}): string {
  return `${row.kind}/${row.name}`;
}
