import type { IRow } from '@smtc-lab/protocol';

/**
 * What a row stands for: `run`, `comparison`, or a kind of study that another package brings.
 */
export type Kind = string;

const LIVE: readonly string[] = ['Pending', 'InProgress', 'Stopping'];

/**
 * Whether something runs, or is about to.
 */
export function isLive(row: IRow): boolean {
  return LIVE.includes(row.state);
}

/**
 * Return how much goes on: a study and its launch, which are rows both, are one.
 */
export function numLive(rows: readonly IRow[]): number {
  const live = rows.filter(isLive);
  const launches = new Set(live.map(row => row.newestRun));
  return live.filter(row => !(row.kind === 'run' && launches.has(row.name)))
    .length;
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
