import { h, newId } from '../dom.js';
import type { Table } from '../live/table.js';
import { t } from '../i18n.js';
import type { IContent } from './content.js';
import { drawing, Throttle, type IDrawable } from './drawing.js';
import { KEYS, listen, type IActions } from './gestures.js';
import { FigureView } from './figure_view.js';
import type { ILinked, Link } from './link.js';
import { isWithin, type IRange, type XView } from './ranges.js';
import { saveFigure } from './save.js';
import { Stage } from './stage.js';
import { tableElement } from './table_view.js';
import { Toolbar } from './toolbar.js';
import { toolsOf, type ITooled } from './tools.js';

const HEIGHT = 220;
const MOST_TABLE_ROWS = 200;
const TABLE_EVERY_MS = 1_000;

/**
 * What a figure is made of.
 */
export interface IFigureOptions {
  readonly title: string;
  readonly height: number | undefined;
  readonly content: IContent;

  /**
   * What stands between the title and the plot.
   */
  readonly legend?: HTMLElement;

  /**
   * The figures that show the same part of the same x axis.
   */
  readonly link?: Link | undefined;

  /**
   * Called after each drawing, with what is seen.
   */
  readonly onDrawn?: (seen: IRange, columns: number) => void;
}

/**
 * A plot with its title, tools, tooltip, table and texts: what charts and heat maps have in
 * common.
 */
export class Figure implements IDrawable, IActions, ITooled, ILinked {
  readonly element: HTMLElement;

  constructor(private readonly _options: IFigureOptions) {
    const { title, content, height = HEIGHT, legend = null } = _options;
    const titleId = newId();
    const keysId = newId();
    this._stage = new Stage(title, content, height, () => {
      this.schedule();
    });
    this._view = new FigureView(this, content, _options.link);
    this._stage.element.setAttribute('aria-describedby', keysId);
    this._table = h('div', {
      class: 'smtc-chart-table',
      hidden: true,
      tabindex: 0,
      role: 'group',
      'aria-label': t('Table of %1', title)
    });
    this._state = h('span', { class: 'smtc-chart-state' });
    this._toolbar = new Toolbar(t('Tools of %1', title), toolsOf(this));
    this.element = h(
      'figure',
      { class: 'smtc-chart', 'aria-labelledby': titleId },
      h(
        'div',
        { class: 'smtc-chart-head' },
        h('figcaption', { id: titleId }, title),
        this._state,
        this._toolbar.element
      ),
      legend,
      h(
        'p',
        { class: 'smtc-chart-label' },
        content.y.label === title ? '' : content.y.label
      ),
      this._stage.element,
      h('p', { class: 'smtc-chart-label smtc-chart-x' }, content.x.label),
      this._table,
      h('p', { id: keysId, class: 'smtc-sr' }, t(KEYS)),
      this._stage.pointer.status
    );
    listen(this._stage.element, this);
    this.schedule();
  }

  /**
   * Draw when rows come to a table.
   */
  follow(table: Table): void {
    if (!this._leave.has(table)) {
      const leave = table.subscribe(() => {
        if (!this.isPaused) {
          this.schedule();
        }
      });
      this._leave.set(table, leave);
    }
    this.schedule();
  }

  /**
   * Draw soon.
   */
  schedule(): void {
    if (!this._isDisposed) {
      drawing.schedule(this);
    }
  }

  /**
   * Change the height of the plot, in CSS pixels.
   */
  resize(height: number): void {
    this._stage.element.style.height = `${height}px`;
    this.schedule();
  }

  draw(): void {
    const { seen } = this._view;
    if (this.isTable) {
      this._tableText.ask();
      return;
    }
    const columns = this._stage.draw(seen);
    if (seen !== null && columns > 0) {
      this._options.onDrawn?.(seen, columns);
    }
  }

  /**
   * Let go of everything. Safe to call twice.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    drawing.cancel(this);
    this._tableText.dispose();
    this._view.dispose();
    this._leave.forEach(leave => {
      leave();
    });
    this._stage.dispose();
    this.element.remove();
  }

  get isZoomed(): boolean {
    return this._view.isZoomed;
  }

  get isPaused(): boolean {
    return this._view.isPaused;
  }

  get isTable(): boolean {
    return !this._table.hidden;
  }

  get isEnded(): boolean {
    return this._isEnded;
  }

  /**
   * Say that no rows come any more.
   */
  end(): void {
    this._isEnded = true;
    this._view.resume();
    this._update();
  }

  zoomBy(factor: number, left?: number): void {
    this._change((view, all) => {
      const at = left === undefined ? 0.5 : this._stage.shareOf(left);
      view.zoomBy(factor, all, at);
    });
  }

  zoomTo(left: number, right: number): void {
    this._change((view, all) => {
      const seen = view.of(all);
      const valueAt = (pixels: number): number =>
        seen.from + this._stage.shareOf(pixels) * (seen.to - seen.from);
      view.zoomTo({ from: valueAt(left), to: valueAt(right) }, all);
    });
  }

  panBy(share: number): void {
    this._change((view, all) => {
      view.panBy(share, all);
    });
  }

  drag(pixels: number): void {
    this.panBy(pixels / this._stage.width);
  }

  reset(): void {
    this._view.reset();
    this._update();
  }

  togglePause(): void {
    if (!this._isEnded) {
      this._view.togglePause();
      this._update();
    }
  }

  toggleTable(): void {
    this._table.hidden = this.isTable;
    this._stage.element.hidden = this.isTable;
    this.point(null);
    this._update();
  }

  point(left: number | null): void {
    this._stage.pointer.follow(left);
    this._stage.point();
    this._view.point(this._stage.pointer.shown);
  }

  pointAt(x: number | null): void {
    this._stage.pointer.goTo(x);
    this._stage.point();
  }

  see(part: IRange | null): void {
    this._view.see(part);
    this._update();
  }

  step(to: 1 | -1 | 'first' | 'last'): void {
    const { pointer } = this._stage;
    this._change((view, all) => {
      const seen = view.of(all);
      pointer.step(to, seen);
      if (pointer.x !== null && !isWithin(pointer.x, seen)) {
        const half = (seen.to - seen.from) / 2;
        view.zoomTo({ from: pointer.x - half, to: pointer.x + half }, all);
      }
      this._stage.point();
    });
    this._view.point(pointer.x);
  }

  select(part: { readonly left: number; readonly width: number } | null): void {
    this._stage.select(part);
  }

  /**
   * Let the browser save the figure.
   */
  async save(kind: 'csv' | 'png' | 'svg'): Promise<void> {
    await saveFigure(kind, this._options, this._stage.picture());
  }

  private _change(act: (view: XView, all: IRange) => void): void {
    if (this._view.change(act)) {
      this._update();
    }
  }

  private _update(): void {
    const word = this.isPaused ? t('paused') : '';
    this._state.textContent = this._isEnded ? t('ended') : word;
    this._state.classList.toggle('smtc-ended', this._isEnded);
    this._toolbar.update();
    this.schedule();
  }

  private readonly _stage: Stage;
  private readonly _state: HTMLElement;
  private readonly _table: HTMLElement;
  private readonly _toolbar: Toolbar;
  private readonly _leave = new Map<Table, () => void>();
  private readonly _view: FigureView;
  private readonly _tableText = new Throttle(TABLE_EVERY_MS, () => {
    const { seen } = this._view;
    if (seen !== null) {
      const table = this._options.content.table(seen, MOST_TABLE_ROWS);
      this._table.replaceChildren(tableElement(table));
    }
  });
  private _isEnded = false;
  private _isDisposed = false;
}
