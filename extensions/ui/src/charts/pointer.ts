import { h } from '../dom.js';
import type { IContent, IReadout } from './content.js';
import { xOf, type IGeometry } from './paint.js';
import { isWithin, type IRange } from './ranges.js';
import { paletteColor } from './theme.js';
import { format } from './units.js';

const GAP = 12;

/**
 * Shows the values next to the mouse, or next to the row that the keys have reached.
 */
export class Pointer {
  /**
   * A line at the place, and the tooltip.
   */
  readonly element: HTMLElement;

  /**
   * Says the values of the row that the keys have reached.
   */
  readonly status: HTMLElement;

  constructor(private readonly _content: IContent) {
    this._line = h('div', { class: 'smtc-chart-cross' });
    this._tip = h('div', { class: 'smtc-chart-tip' });
    this.element = h(
      'div',
      { class: 'smtc-chart-pointer', hidden: true, 'aria-hidden': 'true' },
      this._line,
      this._tip
    );
    this.status = h('p', { class: 'smtc-sr', role: 'status' });
  }

  /**
   * The x that the keys have reached, or null: the mouse leads, or nobody.
   */
  get x(): number | null {
    return typeof this._place === 'number' ? this._place : null;
  }

  /**
   * The x whose values are shown; null: none.
   */
  get shown(): number | null {
    return this.element.hidden ? null : this._shown;
  }

  /**
   * Show the values next to an x, as another figure does; null: show none.
   */
  goTo(x: number | null): void {
    this._place = x;
  }

  /**
   * Follow the mouse.
   *
   * @param left - CSS pixels from the left of the stage, or null: it has left.
   */
  follow(left: number | null): void {
    this._place = left === null ? null : { left };
  }

  /**
   * Go to the next row, the first or the last one of what is seen.
   */
  step(to: 1 | -1 | 'first' | 'last', seen: IRange): void {
    const start = this.x ?? (to === 1 ? seen.from : seen.to);
    const next =
      to === 'first'
        ? seen.from
        : to === 'last'
          ? seen.to
          : this._content.next(start, to);
    const readout = this._content.readout(next ?? start);
    this._place = readout?.x ?? null;
    this.status.textContent = readout === null ? '' : this._sentence(readout);
  }

  /**
   * Show the values where the plot is now.
   */
  show(geometry: IGeometry): void {
    const { area, x: seen } = geometry;
    const wanted = this._wanted(geometry);
    const readout = wanted === null ? null : this._content.readout(wanted);
    const isShown = readout !== null && isWithin(readout.x, seen);
    if (this.element.hidden === isShown) {
      this.element.hidden = !isShown; // else the page would be laid out for nothing
    }
    if (!isShown) {
      return;
    }
    this._shown = readout.x;
    const left = xOf(geometry, readout.x);
    this._line.style.transform = `translateX(${left}px)`;
    this._line.style.top = `${area.top}px`;
    this._line.style.height = `${area.height}px`;
    this._tip.replaceChildren(
      h('strong', {}, this._title(readout)),
      ...readout.lines.map(({ label, text, color }) =>
        h(
          'div',
          color === null ? {} : { style: `--smtc-own: ${paletteColor(color)}` },
          h('span', {}, label),
          h('b', {}, text)
        )
      )
    );
    const isRight = left > area.left + area.width / 2;
    this._tip.style.left = isRight ? 'auto' : `${left + GAP}px`;
    this._tip.style.right = isRight ? `calc(100% - ${left - GAP}px)` : 'auto';
    this._tip.style.top = `${area.top}px`;
  }

  private _wanted({ area, x }: IGeometry): number | null {
    if (this._place === null || typeof this._place === 'number') {
      return this._place;
    }
    const share = (this._place.left - area.left) / area.width;
    return share < 0 || share > 1 ? null : x.from + share * (x.to - x.from);
  }

  private _title({ x }: IReadout): string {
    const { label, unit } = this._content.x;
    return `${label} ${format(x, unit)}`;
  }

  private _sentence(readout: IReadout): string {
    const values = readout.lines.map(({ label, text }) => `${label} ${text}`);
    return `${this._title(readout)}: ${values.join('; ')}`;
  }

  private readonly _line: HTMLElement;
  private readonly _tip: HTMLElement;
  private _place: number | { readonly left: number } | null = null;
  private _shown: number | null = null;
}
