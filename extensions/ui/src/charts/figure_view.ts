import type { IContent } from './content.js';
import type { ILinked, Link } from './link.js';
import { XView, type IRange } from './ranges.js';

/**
 * Which part of the x axis a figure shows: zoomed, paused, and as the figures that it is linked
 * to.
 */
export class FigureView {
  /**
   * @param _figure - Whose view it is.
   */
  constructor(
    private readonly _figure: ILinked,
    private readonly _content: Pick<IContent, 'extent'>,
    private readonly _link: Link | undefined
  ) {
    this._wanted = _link?.part ?? null;
    _link?.add(_figure);
  }

  get isZoomed(): boolean {
    return this._view.isZoomed;
  }

  get isPaused(): boolean {
    return this._pausedAt !== null;
  }

  /**
   * Return what is seen, or null: there is nothing yet.
   */
  get seen(): IRange | null {
    const all = this.all();
    if (all === null) {
      return null;
    }
    this._adopt(all);
    return this._view.of(all);
  }

  /**
   * Return all of the x axis; while paused, as it was then.
   */
  all(): IRange | null {
    const all = this._content.extent();
    if (all === null || this._pausedAt === null) {
      return all;
    }
    const to = Math.min(all.to, this._pausedAt);
    return { from: Math.min(all.from, to), to };
  }

  /**
   * Change what is seen, and tell the figures that it is linked to.
   *
   * @returns False: there is nothing yet.
   */
  change(act: (view: XView, all: IRange) => void): boolean {
    const all = this.all();
    if (all === null) {
      return false;
    }
    act(this._view, all);
    this._link?.zoom(this._view.part, this._figure);
    return true;
  }

  /**
   * See all again.
   */
  reset(): void {
    this._view.reset();
    this._link?.zoom(null, this._figure);
  }

  /**
   * See what a linked figure sees.
   */
  see(part: IRange | null): void {
    this._view.reset();
    this._wanted = part;
    this._adopt(this.all());
  }

  /**
   * Tell the figures that it is linked to where its cursor is.
   */
  point(x: number | null): void {
    this._link?.point(x, this._figure);
  }

  togglePause(): void {
    this._pausedAt = this.isPaused
      ? null
      : (this._content.extent()?.to ?? null);
  }

  resume(): void {
    this._pausedAt = null;
  }

  dispose(): void {
    this._link?.remove(this._figure);
  }

  /**
   * See what is wanted, once there is something.
   */
  private _adopt(all: IRange | null): void {
    if (this._wanted !== null && all !== null) {
      this._view.zoomTo(this._wanted, all);
      this._wanted = null;
    }
  }

  private readonly _view = new XView();
  private _wanted: IRange | null;
  private _pausedAt: number | null = null;
}
