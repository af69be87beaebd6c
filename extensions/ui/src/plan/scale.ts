import type { IEstimate } from '@smtc-lab/protocol';

/**
 * A logarithmic axis: clusters differ by orders of magnitude, and ratios are what matters.
 */
export interface IScale {
  readonly from: number;
  readonly to: number;

  /**
   * Return the place of a value, 0 to 1.
   */
  place(value: number): number;

  readonly ticks: readonly number[];
}

/**
 * A number with its interval, or known exactly.
 */
export type Ends = Pick<IEstimate, 'high' | 'low' | 'value'>;

const ROOM = 0.08;
const MOST_TICKS = 9;

/**
 * Return the axis that shows all of some estimates, and some room around them.
 */
export function scaleOf(estimates: readonly Ends[]): IScale {
  const ends = estimates
    .flatMap(({ low, value, high }) => [low, value, high])
    .filter(value => value > 0);
  const least = Math.log10(ends.length > 0 ? Math.min(...ends) : 1);
  const most = Math.log10(ends.length > 0 ? Math.max(...ends) : 10);
  const room = Math.max(0.05, ROOM * (most - least));
  const [from, to] = [least - room, most + room];
  return {
    from: 10 ** from,
    to: 10 ** to,
    place: value => (Math.log10(Math.max(value, 1e-300)) - from) / (to - from),
    ticks: ticks(from, to)
  };
}

/**
 * Return round numbers between two powers of ten: as dense as few enough allows.
 */
function ticks(from: number, to: number): readonly number[] {
  for (const digits of [
    [1, 1.2, 1.5, 2, 3, 4, 5, 6, 8],
    [1, 1.5, 2, 3, 5, 7],
    [1, 2, 5],
    [1]
  ]) {
    const found: number[] = [];
    for (let power = Math.floor(from); power <= to; power += 1) {
      found.push(...digits.map(digit => Number(`${digit}e${power}`)));
    }
    const seen = found.filter(
      value => Math.log10(value) >= from && Math.log10(value) <= to
    );
    if (seen.length <= MOST_TICKS) {
      return seen;
    }
  }
  return [];
}
