/**
 * What is better on an axis; `''`: it does not matter.
 */
export type Better = '' | 'less' | 'more';

/**
 * A place in a scatter.
 */
export interface IPoint {
  readonly x: number;
  readonly y: number;
}

/**
 * Return the points that no other one beats on one axis without being worse on the other; none
 * where it is not told what is better.
 */
export function paretoOf<T extends IPoint>(
  points: readonly T[],
  x: Better,
  y: Better
): readonly T[] {
  if (x === '' || y === '') {
    return [];
  }
  const signs = [x === 'less' ? 1 : -1, y === 'less' ? 1 : -1] as const;
  const beats = (one: T, other: T): boolean => {
    const dx = signs[0] * (one.x - other.x);
    const dy = signs[1] * (one.y - other.y);
    return dx <= 0 && dy <= 0 && dx + dy < 0;
  };
  return points.filter(one => !points.some(other => beats(other, one)));
}
