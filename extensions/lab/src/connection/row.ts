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
 * Return what no other row has.
 */
export function keyOf(row: {
  readonly name: string;
  readonly kind: Kind;
}): string {
  return `${row.kind}/${row.name}`;
}
