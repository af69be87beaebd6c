import type { IRow } from '@smtc-lab/protocol';
import { isLive } from './row.js';

/**
 * Return what all runs that go on cost in USD per hour, as far as prices are known.
 */
export function priceNow(rows: readonly IRow[]): IPriceNow {
  // the launches of a study are rows themselves, and what waits for instances has none
  const live = rows.filter(
    row => row.kind === 'run' && isLive(row) && row.secondary !== 'Interrupted'
  );
  const sumOf = (some: readonly IRow[]): number =>
    some.reduce((sum, row) => sum + (row.usdPerHour ?? 0), 0);
  const unknown = live.filter(row => row.usdPerHour === null);
  return {
    usdPerHour: sumOf(live),
    isBilled: billedOf(live.map(row => row.isBilled)),
    billedUsdPerHour: sumOf(live.filter(row => row.isBilled)),
    numKnown: live.length - unknown.length,
    // what nobody bills needs no price
    numUnknown: unknown.filter(row => row.isBilled !== false).length
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
   * Runs that may be billed at a price that nobody knows.
   */
  readonly numUnknown: number;
}

function billedOf(billed: readonly (boolean | null)[]): boolean | null {
  return billed.includes(true) ? true : billed.includes(null) ? null : false;
}
