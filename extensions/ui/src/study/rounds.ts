import type { IComparisonInfo } from '@smtc-lab/protocol';

/**
 * Whether a study launches its set-ups in rounds; else its launches differ in what they try.
 */
export function hasRounds({ setUps, rounds }: IComparisonInfo): boolean {
  return setUps.length > 0 && rounds > 0;
}

/**
 * Whether it has set-ups that are launched in no rounds: what they try says how each stands, and
 * neither a picture nor a chart of all.
 */
export function isSearch({ setUps, rounds }: IComparisonInfo): boolean {
  return setUps.length > 0 && rounds === 0;
}
