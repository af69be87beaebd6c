const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Return how long to wait before the next try, in milliseconds. Half of it is left to chance,
 * so that the tabs of a server that comes back do not all come at once.
 *
 * @param failures - Tries that have failed since the last success, at least 1.
 * @param chance - From 0 to 1.
 */
export function delayMs(failures: number, chance: number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
  return longest * (0.5 + chance / 2);
}
