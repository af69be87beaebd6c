import type { IBins } from '@smtc-lab/protocol';

/**
 * Bins of all rows that were ever added, in memory that does not grow: when the bins are all
 * in use, two become one. The least and the greatest value of each bin are kept, so no spike
 * is ever lost. NaN is unknown: it is left out, and a bin of nothing else is NaN.
 *
 * `smtc_lab.follow.history` does the same in Python.
 */
export class History {
  /**
   * @param numColumns - Columns of each row.
   * @param mostBins - Bins that are kept at most, an even number.
   */
  constructor(
    readonly numColumns: number,
    readonly mostBins: number
  ) {
    this._columns = Array.from(
      { length: numColumns },
      () => new ColumnBins(mostBins)
    );
  }

  /**
   * Rows of each bin.
   */
  get width(): number {
    return this._width;
  }

  /**
   * Rows that were added.
   */
  get numRows(): number {
    return this._numRows;
  }

  /**
   * Add rows, column after column.
   */
  append(values: readonly Float64Array[]): void {
    const added = values[0]?.length ?? 0;
    for (let done = 0; done < added; ) {
      const [bin, room] = this._nextBin();
      const end = Math.min(added, done + room);
      this._columns.forEach((column, place) => {
        column.add(bin, values[place] as Float64Array, done, end);
      });
      this._numRows += end - done;
      done = end;
    }
  }

  /**
   * Add rows of which nothing is known.
   */
  skip(numRows: number): void {
    for (let done = 0; done < numRows; ) {
      const count = Math.min(numRows - done, this._nextBin()[1]);
      this._numRows += count;
      done += count;
    }
  }

  /**
   * Begin anew with bins that somebody else made.
   *
   * @param bins - Bins from row 0 on.
   * @param numRows - Rows that they hold; the last bin may hold fewer than the others.
   */
  reset(bins: IBins | null, numRows: number): void {
    this._numRows = 0;
    this._width = bins?.width ?? 1;
    this._columns.forEach(column => {
      column.clear();
    });
    if (bins === null) {
      this.skip(numRows);
      return;
    }
    for (let given = 0; this._numRows < numRows; given++) {
      const [bin] = this._nextBin();
      const count = Math.min(bins.width, numRows - this._numRows);
      this._columns.forEach((column, place) => {
        column.merge(
          bin,
          bins.low[place]?.[given] ?? NaN,
          bins.high[place]?.[given] ?? NaN,
          bins.mean[place]?.[given] ?? NaN,
          count
        );
      });
      this._numRows += count;
    }
  }

  /**
   * Return the bins that hold the rows before a row number. The last one may hold rows behind
   * it too.
   */
  before(row: number): IBins {
    const count = Math.ceil(Math.min(row, this._numRows) / this._width);
    return {
      first: 0,
      width: this._width,
      low: this._columns.map(column => column.low.subarray(0, count)),
      high: this._columns.map(column => column.high.subarray(0, count)),
      mean: this._columns.map(column => column.means(count))
    };
  }

  /**
   * Return the bin of the next row, and how many rows it has room for.
   */
  private _nextBin(): [bin: number, room: number] {
    if (this._numRows === this._width * this.mostBins) {
      this._columns.forEach(column => {
        column.halve();
      });
      this._width *= 2;
    }
    const bin = Math.floor(this._numRows / this._width);
    return [bin, (bin + 1) * this._width - this._numRows];
  }

  private readonly _columns: readonly ColumnBins[];
  private _width = 1;
  private _numRows = 0;
}

/**
 * The bins of one column.
 */
class ColumnBins {
  constructor(mostBins: number) {
    this.low = new Float64Array(mostBins).fill(NaN);
    this.high = new Float64Array(mostBins).fill(NaN);
    this._sum = new Float64Array(mostBins);
    this._count = new Float64Array(mostBins);
  }

  readonly low: Float64Array;
  readonly high: Float64Array;

  add(bin: number, values: Float64Array, begin: number, end: number): void {
    let low = Infinity;
    let high = -Infinity;
    let sum = 0;
    let count = 0;
    for (let row = begin; row < end; row++) {
      const value = values[row] as number;
      if (!Number.isNaN(value)) {
        low = value < low ? value : low;
        high = value > high ? value : high;
        sum += value;
        count += 1;
      }
    }
    this.merge(bin, low, high, sum / count, count);
  }

  merge(
    bin: number,
    low: number,
    high: number,
    mean: number,
    count: number
  ): void {
    if (Number.isNaN(mean)) {
      return;
    }
    const isFirst = this._count[bin] === 0;
    this.low[bin] = isFirst ? low : Math.min(this.low[bin] as number, low);
    this.high[bin] = isFirst ? high : Math.max(this.high[bin] as number, high);
    this._sum[bin] = (this._sum[bin] as number) + mean * count;
    this._count[bin] = (this._count[bin] as number) + count;
  }

  means(count: number): Float64Array {
    return this._sum
      .subarray(0, count)
      .map((sum, bin) => sum / (this._count[bin] as number)); // 0 / 0 is NaN
  }

  halve(): void {
    const half = this.low.length / 2;
    for (let bin = 0; bin < half; bin++) {
      const [one, other] = [2 * bin, 2 * bin + 1];
      this.low[bin] = known(Math.min, this.low[one], this.low[other]);
      this.high[bin] = known(Math.max, this.high[one], this.high[other]);
      this._sum[bin] =
        (this._sum[one] as number) + (this._sum[other] as number);
      this._count[bin] =
        (this._count[one] as number) + (this._count[other] as number);
    }
    this._empty(half);
  }

  clear(): void {
    this._empty(0);
  }

  private _empty(begin: number): void {
    this.low.fill(NaN, begin);
    this.high.fill(NaN, begin);
    this._sum.fill(0, begin);
    this._count.fill(0, begin);
  }

  private readonly _sum: Float64Array;
  private readonly _count: Float64Array;
}

function known(
  choose: (one: number, other: number) => number,
  one = NaN,
  other = NaN
): number {
  if (Number.isNaN(one)) {
    return other;
  }
  return Number.isNaN(other) ? one : choose(one, other);
}
