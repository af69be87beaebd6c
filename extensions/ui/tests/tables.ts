import type { IBins, IFrame } from '@smtc-lab/protocol';
import { Table } from '../src/live/table.js';
import type { ISeries } from '../src/charts/options.js';

/**
 * Return a frame of rows; the first column decides how many.
 */
export function frameOf(
  type: IFrame['type'],
  first: number,
  columns: Readonly<Record<string, readonly number[]>>,
  bins: IBins | null = null
): IFrame {
  const values = Object.values(columns).map(column =>
    Float64Array.from(column)
  );
  return {
    type,
    table: 'rows',
    columns: Object.keys(columns),
    rows: { first, values },
    bins
  };
}

/**
 * Return a table of rows.
 */
export function tableOf(
  columns: Readonly<Record<string, readonly number[]>>,
  capacity?: number
): Table {
  const table = new Table('rows', Object.keys(columns), capacity);
  table.take(frameOf('rows', 0, columns));
  return table;
}

/**
 * Return a series of a table with the columns x and y.
 */
export function seriesOf(table: Table, more: Partial<ISeries> = {}): ISeries {
  return {
    label: 'homogeneous',
    table,
    x: 'x',
    y: 'y',
    as: 'line',
    evidence: 'measured',
    color: 0,
    ...more
  };
}

/**
 * Return whole numbers from 0 on.
 */
export function count(length: number): number[] {
  return Array.from({ length }, (_, place) => place);
}

/**
 * Return the same numbers for the same seed, from 0 to 1.
 */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    // a linear congruence, Numerical Recipes
    state = (1_664_525 * state + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
