/**
 * A part of an axis.
 */
export interface IRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Return the first place whose value is not below a bound; the values never decrease.
 */
export function lowerBound(values: Float64Array, bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/**
 * Return the first place whose value is above a bound; the values never decrease.
 */
export function upperBound(values: Float64Array, bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) <= bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/**
 * Whether a value lies in a range, ends included.
 */
export function isWithin(value: number, { from, to }: IRange): boolean {
  return value >= from && value <= to;
}

/**
 * Return the range that holds both; null is nothing.
 */
export function union(one: IRange | null, other: IRange | null): IRange | null {
  if (one === null || other === null) {
    return one ?? other;
  }
  return {
    from: Math.min(one.from, other.from),
    to: Math.max(one.to, other.to)
  };
}

/**
 * Which part of the x axis is seen: all of it, as it grows, until somebody zooms in.
 */
export class XView {
  /**
   * Whether a part is seen only.
   */
  get isZoomed(): boolean {
    return this._part !== null;
  }

  /**
   * The part that is seen; null: all.
   */
  get part(): IRange | null {
    return this._part;
  }

  /**
   * Return what is seen, when all of it is this.
   */
  of(all: IRange): IRange {
    const seen = this._part ?? all;
    return seen.to > seen.from
      ? seen
      : { from: seen.from - 0.5, to: seen.to + 0.5 };
  }

  /**
   * See a part only. One that is wider than all there is shows all and what comes.
   */
  zoomTo(part: IRange, all: IRange): void {
    const span = all.to - all.from;
    const least = Math.max(Math.abs(all.to), span) * 1e-9;
    const width = Math.max(part.to - part.from, least);
    if (!(width < span)) {
      this._part = null;
      return;
    }
    const from = Math.min(Math.max(part.from, all.from), all.to - width);
    this._part = { from, to: from + width };
  }

  /**
   * Zoom by a factor, below 1 for more detail, around a place that stays where it is.
   *
   * @param at - The place, from 0, the left end of what is seen, to 1.
   */
  zoomBy(factor: number, all: IRange, at = 0.5): void {
    const seen = this.of(all);
    const width = seen.to - seen.from;
    const from = seen.from + at * width * (1 - factor);
    this.zoomTo({ from, to: from + width * factor }, all);
  }

  /**
   * Move what is seen by a share of its width.
   */
  panBy(share: number, all: IRange): void {
    if (this._part !== null) {
      const shift = share * (this._part.to - this._part.from);
      const { from, to } = this._part;
      this.zoomTo({ from: from + shift, to: to + shift }, all);
    }
  }

  /**
   * See all again.
   */
  reset(): void {
    this._part = null;
  }

  private _part: IRange | null = null;
}
