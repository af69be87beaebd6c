import { h } from '../dom.js';
import type { IContent } from './content.js';
import { Throttle } from './drawing.js';
import { Plot } from './plot.js';
import { Pointer } from './pointer.js';
import type { IRange } from './ranges.js';
import type { IPicture } from './save.js';
import { readTheme, watchTheme, type ITheme } from './theme.js';
import { whenSeen } from './when_seen.js';
import { t } from '../i18n.js';

const LEAST_COLUMNS = 50;
const SUMMARY_EVERY_MS = 5_000;

/**
 * The place where a plot is drawn and pointed at. It has a plot only while somebody sees it.
 */
export class Stage {
  /**
   * Can have the focus.
   */
  readonly element: HTMLElement;

  readonly pointer: Pointer;

  /**
   * @param changed - Called when it must be drawn again.
   */
  constructor(
    private readonly _title: string,
    private readonly _content: IContent,
    height: number,
    private readonly _changed: () => void
  ) {
    this._image = h('div', { role: 'img', 'aria-label': _title });
    this._word = h('p', { class: 'smtc-chart-word' });
    this._selection = h('div', { class: 'smtc-chart-selection', hidden: true });
    this.pointer = new Pointer(_content);
    this.element = h(
      'div',
      {
        class: 'smtc-chart-stage',
        style: `height: ${height}px`,
        tabindex: 0,
        role: 'group',
        'aria-label': t('Plot of %1', _title)
      },
      this._image,
      this._word,
      this._selection,
      this.pointer.element
    );
    this._leave = [
      whenSeen(this.element, isSeen => {
        this._isSeen = isSeen;
        _changed();
      }),
      watchTheme(() => {
        this._followTheme();
      })
    ];
  }

  /**
   * Draw a part of the x axis, or a word where there is nothing to draw.
   *
   * @returns Columns of pixels, or 0: nothing was drawn.
   */
  draw(seen: IRange | null): number {
    this._say(seen === null ? t('No values yet') : '');
    if (seen === null || !this._isSeen) {
      return 0;
    }
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0) {
      // hidden for one frame only, no observer is told of it; longer, and its size changes
      if (!this._wasHidden) {
        this._wasHidden = true;
        this._changed();
      }
      return 0;
    }
    this._wasHidden = false;
    if (this._plot === null) {
      this._open(clientWidth, clientHeight);
      return 0;
    }
    this._plot.resize(clientWidth, clientHeight);
    const columns = Math.max(LEAST_COLUMNS, Math.round(this._plot.area.width));
    const y = this._content.arrange(seen, columns);
    this._plot.draw(seen, y);
    this._seen = { x: seen, y };
    this.point();
    this._summary.ask();
    if (clientWidth !== this._drawnWidth) {
      this._drawnWidth = clientWidth;
      this._changed(); // the axes have found their room only now
    }
    return columns;
  }

  /**
   * Show the values where the pointer is now.
   */
  point(): void {
    if (this._plot !== null && this._seen !== null) {
      this.pointer.show({ area: this._plot.area, ...this._seen });
    }
  }

  /**
   * Show what is being selected; null: nothing.
   */
  select(part: { readonly left: number; readonly width: number } | null): void {
    this._selection.hidden = part === null;
    if (part !== null) {
      this._selection.style.left = `${part.left}px`;
      this._selection.style.width = `${part.width}px`;
    }
  }

  /**
   * Return where a place lies in the plot, from 0, its left end, to 1.
   *
   * @param left - CSS pixels from the left of the stage.
   */
  shareOf(left: number): number {
    const area = this._plot?.area;
    return area === undefined
      ? 0.5
      : Math.min(1, Math.max(0, (left - area.left) / area.width));
  }

  /**
   * Width of the plot in CSS pixels.
   */
  get width(): number {
    return this._plot?.area.width ?? 1;
  }

  /**
   * Return what an image file needs, or null: nothing was drawn yet.
   */
  picture(): IPicture | null {
    if (this._plot === null || this._seen === null || this._theme === null) {
      return null;
    }
    return {
      title: this._title,
      content: this._content,
      geometry: { area: this._plot.area, ...this._seen },
      ticks: this._plot.ticks,
      theme: this._theme,
      width: this.element.clientWidth,
      height: this.element.clientHeight
    };
  }

  /**
   * Let go of the plot; the next drawing makes a new one.
   */
  close(): void {
    this._theme = null;
    this._plot?.dispose();
    this._plot = null;
    this._drawnWidth = 0;
  }

  dispose(): void {
    for (const leave of this._leave) {
      leave();
    }
    this._summary.dispose();
    this._isSeen = false;
    this.close();
  }

  private _followTheme(): void {
    // hosts change classes for many reasons, most of them without another colour
    const theme = JSON.stringify(readTheme(this.element));
    if (this._theme !== null && JSON.stringify(this._theme) !== theme) {
      this.close();
      this._changed();
    }
  }

  private _say(word: string): void {
    // each change makes the browser lay out the page again
    if (this._word.textContent !== word) {
      this._word.textContent = word;
    }
  }

  private _open(width: number, height: number): void {
    if (this._theme !== null) {
      return; // being made
    }
    const theme = readTheme(this.element);
    this._theme = theme;
    const content = this._content;
    void Plot.open(this._image, {
      x: content.x,
      y: content.y,
      width,
      height,
      theme,
      rows: () => content.rows,
      room: all => content.roomFor?.(all) ?? 0,
      paint: (pen, geometry) => {
        content.paint(pen, geometry, theme);
      }
    }).then(plot => {
      if (theme === this._theme) {
        this._plot = plot;
        this._changed();
      } else {
        plot.dispose(); // closed meanwhile
      }
    });
  }

  private readonly _image: HTMLElement;
  private readonly _word: HTMLElement;
  private readonly _selection: HTMLElement;
  private readonly _leave: readonly (() => void)[];
  private readonly _summary = new Throttle(SUMMARY_EVERY_MS, () => {
    const text = `${this._title}: ${this._content.summary()}`;
    this._image.setAttribute('aria-label', text);
  });
  private _plot: Plot | null = null;
  private _theme: ITheme | null = null;
  private _seen: { readonly x: IRange; readonly y: IRange } | null = null;
  private _isSeen = false;
  private _wasHidden = false;
  private _drawnWidth = 0;
}
