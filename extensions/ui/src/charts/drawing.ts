/**
 * What is drawn when the page has time for it.
 */
export interface IDrawable {
  draw(): void;
}

const NAME = 'smtc-lab:drawing';

interface IPage {
  [NAME]?: Drawing;
}

const BUDGET_MS = 4; // what was drawn is coloured later, in about twice the time

/**
 * Draws all that has changed, in one go for each picture of the screen. What does not fit into
 * one picture's time comes in the next, in turn, so that many charts do not make a page slow.
 */
class Drawing {
  /**
   * Draw soon. Any number of calls make one drawing.
   */
  schedule(drawable: IDrawable): void {
    this._waiting.add(drawable);
    this._request();
  }

  /**
   * Do not draw any more.
   */
  cancel(drawable: IDrawable): void {
    this._waiting.delete(drawable);
  }

  private _request(): void {
    if (this._frame === 0 && this._waiting.size > 0) {
      this._frame = requestAnimationFrame(() => {
        this._frame = 0;
        try {
          this._drawWaiting();
        } finally {
          this._request(); // one that fails does not hold up the others
        }
      });
    }
  }

  private _drawWaiting(): void {
    const beganMs = performance.now();
    // what is scheduled meanwhile goes behind those that wait
    for (const drawable of [...this._waiting]) {
      this._waiting.delete(drawable);
      drawable.draw();
      if (performance.now() - beganMs > BUDGET_MS) {
        return;
      }
    }
  }

  private readonly _waiting = new Set<IDrawable>();
  private _frame = 0;
}

/**
 * The only one of the page: each widget brings a copy of this module, and all of them share the
 * time of a picture.
 */
export const drawing = onlyOne(globalThis as IPage);

function onlyOne(page: IPage): Drawing {
  page[NAME] ??= new Drawing();
  return page[NAME];
}

/**
 * Calls a function at once, but not more often than so: what is asked for meanwhile comes once,
 * at the end of the time.
 */
export class Throttle {
  /**
   * @param _everyMs - From one call to the next, at least.
   */
  constructor(
    private readonly _everyMs: number,
    private readonly _call: () => void
  ) {}

  /**
   * Call now, or when the time has passed.
   */
  ask(): void {
    if (this._timer !== undefined) {
      this._isAsked = true;
      return;
    }
    this._call();
    this._timer = setTimeout(() => {
      this._timer = undefined;
      if (this._isAsked) {
        this._isAsked = false;
        this.ask();
      }
    }, this._everyMs);
  }

  /**
   * Forget what is asked for.
   */
  dispose(): void {
    clearTimeout(this._timer);
    this._isAsked = false;
  }

  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isAsked = false;
}
