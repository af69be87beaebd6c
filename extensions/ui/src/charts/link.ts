import type { IAxis } from './options.js';
import type { IRange } from './ranges.js';

/**
 * A figure that shows what another one with the same x axis shows.
 */
export interface ILinked {
  /**
   * Show the values next to an x; null: show none.
   */
  pointAt(x: number | null): void;

  /**
   * See a part of the x axis; null: all of it.
   */
  see(part: IRange | null): void;
}

/**
 * The figures of a page that share an x axis: cursor and zoom of one are those of all.
 */
export class Link {
  /**
   * The part that all of them see; null: all.
   */
  part: IRange | null = null;

  add(figure: ILinked): void {
    this._figures.add(figure);
  }

  remove(figure: ILinked): void {
    this._figures.delete(figure);
  }

  /**
   * Tell the others where the cursor of one is.
   */
  point(x: number | null, from: ILinked): void {
    this._others(from).forEach(figure => {
      figure.pointAt(x);
    });
  }

  /**
   * Tell the others what one sees.
   */
  zoom(part: IRange | null, from: ILinked): void {
    if (part !== this.part) {
      this.part = part;
      this._others(from).forEach(figure => {
        figure.see(part);
      });
    }
  }

  private _others(from: ILinked): readonly ILinked[] {
    return [...this._figures].filter(figure => figure !== from);
  }

  private readonly _figures = new Set<ILinked>();
}

/**
 * The links of a page, one for each x axis.
 */
export class Links {
  of({ label, unit }: IAxis): Link {
    const key = `${unit} ${label}`;
    const link = this._links.get(key) ?? new Link();
    this._links.set(key, link);
    return link;
  }

  private readonly _links = new Map<string, Link>();
}
