/**
 * Where a sequence of modules is cut: the first module of each stage.
 */
export type Starts = readonly number[];

/**
 * Modules that follow each other in a stage and are shown as one box.
 */
export interface IFold {
  readonly first: number;

  /**
   * Its last module.
   */
  readonly last: number;
}

/**
 * Return the stage of a module.
 */
export function stageOf(starts: Starts, module: number): number {
  return starts.filter(start => start <= module).length - 1;
}

/**
 * Return the module after the last of a stage.
 */
export function endOf(starts: Starts, stage: number, count: number): number {
  return starts[stage + 1] ?? count;
}

/**
 * Move a module to the stage beside its own, and with it all that lies between.
 *
 * @param by - 1: to the next stage; -1: to the one before.
 * @param count - Modules of the model.
 * @returns The new cut; null: there is no such stage, or its own would be empty.
 */
export function moved(
  starts: Starts,
  module: number,
  by: -1 | 1,
  count: number
): Starts | null {
  const stage = stageOf(starts, module);
  const [boundary, first] = by > 0 ? [stage + 1, module] : [stage, module + 1];
  const isPossible =
    boundary > 0 &&
    boundary < starts.length &&
    first > (starts[boundary - 1] as number) &&
    first < endOf(starts, boundary, count);
  return isPossible
    ? starts.map((start, place) => (place === boundary ? first : start))
    : null;
}

/**
 * Move modules that are shown as one box, as `moved` does one.
 */
export function movedFold(
  starts: Starts,
  { first, last }: IFold,
  by: -1 | 1,
  count: number
): Starts | null {
  return moved(starts, by > 0 ? first : last, by, count);
}

/**
 * Return how many modules are on another stage in another cut.
 */
export function numMoved(from: Starts, to: Starts): number {
  return from.reduce(
    (sum, start, place) => sum + Math.abs(start - (to[place] as number)),
    0
  );
}

/**
 * Whether two cuts are the same.
 */
export function isSameCut(one: Starts, other: Starts): boolean {
  return one.every((start, place) => start === other[place]);
}
