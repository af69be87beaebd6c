import { endOf, type IFold, type Starts } from './moves.js';

/**
 * Modules that are shown as one box.
 */
export interface IShown extends IFold {
  /**
   * Whether they are small, and the box can be opened.
   */
  readonly isSmall: boolean;
}

/**
 * Share of a step that small modules take together, at most.
 */
const MOST = 0.005;

/**
 * Share of a step below which a module is small by itself.
 */
const LEAST = 0.0005;

/**
 * Return what is shown of a stage, in order: small modules that follow each other together, and
 * all others alone.
 *
 * @param shares - What each module of the model takes of a step.
 */
export function foldsOf(
  starts: Starts,
  stage: number,
  shares: readonly number[]
): readonly IShown[] {
  const end = endOf(starts, stage, shares.length);
  const found: IShown[] = [];
  let first = starts[stage] as number;
  let sum = 0;
  for (let next = first + 1; next <= end; next += 1) {
    sum += shares[next - 1] as number;
    if (next === end || sum + (shares[next] as number) >= MOST) {
      const isSmall = next > first + 1 || sum < LEAST;
      found.push({ first, last: next - 1, isSmall });
      first = next;
      sum = 0;
    }
  }
  return found;
}
