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
 * Return the rows that are to be shown. What a calibration or a proof launched to measure, and has
 * ended, is shown only where somebody looks for it.
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
    return rows.filter(row => row.madeBy === '' || isLive(row));
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
