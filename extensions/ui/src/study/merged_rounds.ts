import { Throttle } from '../charts/drawing.js';
import { segmentsOf, type ISegment } from '../charts/segments.js';
import { Table } from '../live/table.js';

const COLUMNS = ['step', 'mean', 'low', 'high'];
const EVERY_MS = 100;
const MOST_BINS = 65_536;

/**
 * Which rows of the rounds are taken together.
 */
export interface IMerging {
  readonly column: string;

  /**
   * Steps of each mean; fewer at the begin.
   */
  readonly window: number;
}

/**
 * The rounds of one set-up as one series: at each step the mean over the rounds, each of them the
 * mean of its last steps, with the least and the greatest round. One round alone has no spread.
 */
export class MergedRounds {
  readonly table: Table;

  constructor(
    name: string,
    private readonly _merging: IMerging
  ) {
    this.table = new Table(name, COLUMNS, 2 * MOST_BINS);
  }

  /**
   * Take in what comes of some rounds.
   *
   * @param warmUp - Steps at the begin that are in no mean with later ones.
   */
  follow(rounds: readonly Table[], warmUp: number): void {
    for (const round of rounds) {
      if (!this._leave.has(round)) {
        const leave = round.subscribe(() => {
          this._merge.ask();
        });
        this._leave.set(round, leave);
        this._isNew = true;
      }
    }
    if (this._isNew || warmUp !== this._warmUp) {
      this._isNew = false;
      this._warmUp = warmUp;
      this._merge.ask();
    }
  }

  /**
   * Let go of the rounds. Safe to call twice.
   */
  dispose(): void {
    this._merge.dispose();
    this._leave.forEach(leave => {
      leave();
    });
    this._leave.clear();
  }

  private readonly _leave = new Map<Table, () => void>();
  private readonly _merge = new Throttle(EVERY_MS, () => {
    const rounds = [...this._leave.keys()].map(table =>
      segmentsOf({
        ...{ label: '', table, x: 'step', y: this._merging.column },
        ...{ as: 'line', evidence: 'measured', color: 0 }
      })
    );
    const values = merged(rounds, this._merging.window, this._warmUp);
    this.table.take({
      type: 'reset',
      table: this.table.name,
      columns: COLUMNS,
      rows: { first: 0, values },
      bins: null
    });
  });
  private _warmUp = 0;
  private _isNew = false;
}

/**
 * Return the columns of the mean over rounds: step, mean, least and greatest round.
 *
 * @param rounds - Rows of each round, or bins of them.
 * @param window - Steps of the mean of each round.
 * @param warmUp - Steps at the begin that are in no mean with later ones.
 */
export function merged(
  rounds: readonly (readonly ISegment[])[],
  window: number,
  warmUp: number
): readonly Float64Array[] {
  const grid = gridOf(rounds.flat());
  const sum = new Float64Array(grid.length);
  const count = new Float64Array(grid.length);
  const low = new Float64Array(grid.length).fill(Infinity);
  const high = new Float64Array(grid.length).fill(-Infinity);
  for (const round of rounds) {
    const means = rolled(binned(round, grid), grid, window, warmUp);
    means.forEach((mean, bin) => {
      if (!Number.isNaN(mean)) {
        sum[bin] = (sum[bin] as number) + mean;
        count[bin] = (count[bin] as number) + 1;
        low[bin] = Math.min(low[bin] as number, mean);
        high[bin] = Math.max(high[bin] as number, mean);
      }
    });
  }
  const known = [...count.keys()].filter(bin => (count[bin] as number) > 0);
  const column = (value: (bin: number) => number): Float64Array =>
    Float64Array.from(known, value);
  // one value has no spread
  const spread = (ends: Float64Array): Float64Array =>
    column(bin => ((count[bin] as number) > 1 ? (ends[bin] as number) : NaN));
  return [
    column(bin => Math.min(grid.last, stepOf(grid, bin))),
    column(bin => (sum[bin] as number) / (count[bin] as number)),
    spread(low),
    spread(high)
  ];
}

/**
 * Bins of steps, all of one width, that all rows fall into.
 */
interface IGrid {
  readonly first: number;
  readonly length: number;
  readonly width: number;

  /**
   * The last step of all.
   */
  readonly last: number;
}

function gridOf(segments: readonly ISegment[]): IGrid {
  const known = segments.filter(({ x }) => x.length > 0);
  const least = Math.min(...known.map(({ x }) => x[0] as number));
  const last = Math.max(...known.map(({ x }) => x[x.length - 1] as number));
  if (!Number.isFinite(last - least)) {
    return { first: 0, length: 0, width: 1, last: 0 };
  }
  let width = Math.max(...known.map(segment => segment.width));
  while ((last - least) / width > MOST_BINS) {
    width *= 2;
  }
  const first = Math.floor(least / width);
  const length = Math.floor(last / width) - first + 1;
  return { first, length, width, last };
}

/**
 * Return the middle of the steps of a bin.
 */
function stepOf({ first, width }: IGrid, bin: number): number {
  return (first + bin) * width + (width - 1) / 2;
}

interface IBinned {
  readonly sum: Float64Array;
  readonly count: Float64Array;
}

function binned(round: readonly ISegment[], grid: IGrid): IBinned {
  const sum = new Float64Array(grid.length);
  const count = new Float64Array(grid.length);
  for (const { x, mean, width } of round) {
    mean.forEach((value, row) => {
      const bin = Math.floor((x[row] as number) / grid.width) - grid.first;
      if (!Number.isNaN(value) && bin >= 0 && bin < grid.length) {
        sum[bin] = (sum[bin] as number) + value * width;
        count[bin] = (count[bin] as number) + width;
      }
    });
  }
  return { sum, count };
}

/**
 * Return for each bin the mean of a round's last ones; NaN where the round has no row.
 */
function rolled(
  { sum, count }: IBinned,
  grid: IGrid,
  window: number,
  warmUp: number
): Float64Array {
  const length = Math.max(1, Math.round(window / grid.width));
  const settled = Math.ceil(warmUp / grid.width) - grid.first;
  const sums = totals(sum);
  const counts = totals(count);
  return count.map((own, bin) => {
    const begin = bin < settled ? bin : Math.max(settled, bin - length + 1, 0);
    const of = (all: Float64Array): number =>
      (all[bin + 1] as number) - (all[begin] as number);
    return own > 0 ? of(sums) / of(counts) : NaN;
  });
}

function totals(values: Float64Array): Float64Array {
  const all = new Float64Array(values.length + 1);
  values.forEach((value, place) => {
    all[place + 1] = (all[place] as number) + value;
  });
  return all;
}
