import type { IComparisonInfo } from '@smtc-lab/protocol';
import type { Feed } from '../live/feed.js';
import type { Table } from '../live/table.js';
import type { ITables } from '../monitor/charts.js';
import { MergedRounds } from './merged_rounds.js';

const NAME = /^rounds:(\d+):(\w+):(\d+)$/;

/**
 * Return the name of the table that has the rounds of a set-up as one series, with the columns
 * step, mean, low and high.
 *
 * @param window - Steps of its means.
 */
export function roundsTable(
  setUp: number,
  column: string,
  window: number
): string {
  return `rounds:${setUp}:${column}:${window}`;
}

/**
 * The tables of a study, and its rounds as one series for each set-up. They are made when a chart
 * asks for them first.
 */
export class RoundsFeed implements ITables {
  constructor(private readonly _feed: Feed) {}

  /**
   * Take note of the launches that there are.
   */
  update(info: IComparisonInfo): void {
    this._info = info;
    this._merged.forEach((merged, name) => {
      this._follow(merged, name);
    });
  }

  table(name: string): Table | undefined {
    const [, setUp, column = '', window] = NAME.exec(name) ?? [];
    if (setUp === undefined) {
      return this._feed.table(name);
    }
    let merged = this._merged.get(name);
    if (merged === undefined && this._rounds(name).length > 0) {
      merged = new MergedRounds(name, { column, window: Number(window) });
      this._merged.set(name, merged);
      this._follow(merged, name);
    }
    return merged?.table;
  }

  read(table: string, first: number, end: number, most: number): void {
    this._feed.read(table, first, end, most);
  }

  dispose(): void {
    this._merged.forEach(merged => {
      merged.dispose();
    });
    this._merged.clear();
  }

  private _follow(merged: MergedRounds, name: string): void {
    merged.follow(this._rounds(name), warmUpOf(this._info));
  }

  /**
   * Return the tables of a set-up's launches, as far as they have come.
   */
  private _rounds(name: string): readonly Table[] {
    const place = Number(NAME.exec(name)?.[1]);
    return (this._info?.launched ?? []).flatMap(({ setUp }, launch) => {
      const table = this._feed.table(`${launch}/steps`);
      return setUp === place && table !== undefined ? [table] : [];
    });
  }

  private readonly _merged = new Map<string, MergedRounds>();
  private _info: IComparisonInfo | null = null;
}

/**
 * Return the steps that all launches leave out as warm-up, as far as it is known.
 */
export function warmUpOf(info: IComparisonInfo | null): number {
  const known = (info?.launched ?? [])
    .map(launch => launch.warmUpSteps)
    .filter(steps => steps > 0);
  return known.length === 0 ? 0 : Math.min(...known);
}
