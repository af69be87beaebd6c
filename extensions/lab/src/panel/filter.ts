import type { IRow } from '@smtc-lab/protocol';
import { isLive } from '../connection/row.js';

/**
 * Which rows are shown.
 */
export type Show = 'all' | 'live' | 'ended' | 'failed' | 'comparisons';

const TESTS: Readonly<Record<Show, (row: IRow) => boolean>> = {
  all: () => true,
  live: isLive,
  ended: row => !isLive(row),
  failed: row => row.state === 'Failed',
  comparisons: row => row.kind === 'comparison'
};

/**
 * Whether a row is shown where nobody looks for one: what a calibration or a proof launched to
 * measure is not, once it has ended.
 */
export function isListed(row: IRow): boolean {
  return row.madeBy === '' || isLive(row);
}

/**
 * Return the rows that are looked for; all of them, the same array, where nothing is.
 *
 * @param words - All of them must occur in the name, cluster, entry point or state; upper and
 * lower case are one.
 */
export function filtered(
  rows: readonly IRow[],
  show: Show,
  words: string
): readonly IRow[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const isShown = TESTS[show];
  if (show === 'all' && wanted.length === 0) {
    return rows;
  }
  return rows.filter(row => {
    if (!isShown(row)) {
      return false;
    }
    const { name, cluster, entryPoint, state } = row;
    const text = `${name}\n${cluster}\n${entryPoint}\n${state}`.toLowerCase();
    return wanted.every(word => text.includes(word));
  });
}
