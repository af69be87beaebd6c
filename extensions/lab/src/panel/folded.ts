import type { IRow } from '@smtc-lab/protocol';
import { isLive, keyOf } from '../connection/row.js';

/**
 * Which studies the user has opened or shut, by their keys; the others are open while they go on.
 */
export type Opened = ReadonlyMap<string, boolean>;

/**
 * Return the rows with the launches of each study below it, or none of them where it is shut. A
 * launch whose study is not there stands for itself.
 */
export function folded(rows: readonly IRow[], opened: Opened): readonly IRow[] {
  const launches = launchesOf(rows);
  return rows.flatMap(row => {
    if (row.study !== null && launches.has(row.study)) {
      return [];
    }
    const own = row.kind === 'run' ? undefined : launches.get(row.name);
    return own !== undefined && isOpen(row, opened) ? [row, ...own] : [row];
  });
}

/**
 * Return the rows with all launches of each study below it.
 */
export function unfolded(rows: readonly IRow[]): readonly IRow[] {
  return folded(rows, new Map(rows.map(row => [keyOf(row), true])));
}

/**
 * Return the rows that stand for themselves: all but the launches of studies in the list.
 */
export function ownOf(rows: readonly IRow[]): readonly IRow[] {
  const launches = launchesOf(rows);
  return rows.filter(({ study }) => study === null || !launches.has(study));
}

/**
 * How many launches a study has, and whether they are shown.
 */
export interface IFold {
  readonly launches: number;
  readonly isOpen: boolean;
}

/**
 * Return the folds of the studies in a list, by their keys.
 */
export function foldsOf(
  rows: readonly IRow[],
  opened: Opened
): ReadonlyMap<string, IFold> {
  const launches = launchesOf(rows);
  return new Map(
    rows.flatMap((row): readonly [string, IFold][] => {
      const own = row.kind === 'run' ? undefined : launches.get(row.name);
      const fold = { launches: own?.length ?? 0, isOpen: isOpen(row, opened) };
      return own === undefined ? [] : [[keyOf(row), fold]];
    })
  );
}

/**
 * Whether the launches of a study are shown.
 */
export function isOpen(study: IRow, opened: Opened): boolean {
  return opened.get(keyOf(study)) ?? isLive(study);
}

/**
 * Return the launches of each study that is in the list, in the order of the list.
 */
export function launchesOf(
  rows: readonly IRow[]
): ReadonlyMap<string, readonly IRow[]> {
  const found = new Map<string, IRow[]>();
  for (const { kind, name } of rows) {
    if (kind !== 'run') {
      found.set(name, []);
    }
  }
  for (const row of rows) {
    if (row.study !== null) {
      found.get(row.study)?.push(row);
    }
  }
  return new Map([...found].filter(([, own]) => own.length > 0));
}
