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
 * Return what all runs that go on cost in USD per hour, as far as prices are known.
 */
export function priceNow(rows: readonly IRow[]): IPriceNow {
  // the launches of a study are rows themselves
  const live = rows.filter(row => row.kind === 'run' && isLive(row));
  const known = live.filter(({ usdPerHour }) => usdPerHour !== null);
  const sumOf = (some: readonly IRow[]): number =>
    some.reduce((sum, { usdPerHour }) => sum + (usdPerHour ?? 0), 0);
  return {
    usdPerHour: sumOf(known),
    isBilled: billedOf(live.map(({ isBilled }) => isBilled)),
    billedUsdPerHour: sumOf(known.filter(({ isBilled }) => isBilled === true)),
    numKnown: known.length,
    numUnknown: live.length - known.length
  };
}

export interface IPriceNow {
  readonly usdPerHour: number;

  /**
   * Whether somebody is billed for any of them; false: for none, they run on this machine; null:
   * nobody knows.
   */
  readonly isBilled: boolean | null;

  /**
   * What of the price is billed for sure.
   */
  readonly billedUsdPerHour: number;

  /**
   * Runs whose price it has.
   */
  readonly numKnown: number;

  /**
   * Runs whose price nobody knows.
   */
  readonly numUnknown: number;
}

function billedOf(billed: readonly (boolean | null)[]): boolean | null {
  return billed.includes(true) ? true : billed.includes(null) ? null : false;
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
