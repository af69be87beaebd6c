import type { IRow } from '@smtc-lab/protocol';

/**
 * What a row stands for.
 */
export type Kind = IRow['kind'];

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
