import { format } from '../charts/units.js';
import type { Unit } from '../charts/options.js';
import { whenSeen } from '../charts/when_seen.js';
import { h, newId } from '../dom.js';
import {
  exactly,
  Geometry,
  type IFrame,
  type IGridAxis,
  type IPlace
} from '../plan/geometry.js';
import { keepFocus } from '../plan/keep_focus.js';
import type { IScale } from '../plan/scale.js';
import { s } from '../plan/svg.js';
import { linearOrLog } from '../run_comparison/scale.js';

const USUAL_WIDTH = 640;
const MOST_WIDTH = 760;

/**
 * A picture with a title, drawn for the width that it has.
 */
export class Figure {
  readonly element: HTMLElement;

  /**
   * @param draw - Returns what is in it; nothing: it is hidden.
   * @param more - Stands beside the title.
   */
  constructor(
    title: string,
    private readonly _draw: (width: number) => readonly Node[],
    ...more: readonly Node[]
  ) {
    const id = newId();
    this.element = h(
      'figure',
      { class: 'smtc-chart smtc-tuning-chart', 'aria-labelledby': id },
      h(
        'div',
        { class: 'smtc-chart-head' },
        h('figcaption', { id }, title),
        ...more
      ),
      this._host
    );
    this._leave = whenSeen(this._host, () => {
      const width = Math.min(MOST_WIDTH, this._host.clientWidth);
      if (width > 0 && width !== this._width) {
        this._width = width;
        this.show();
      }
    });
  }

  show(): void {
    const drawn = this._draw(this._width);
    this.element.hidden = drawn.length === 0;
    keepFocus(this._host, () => {
      this._host.replaceChildren(...drawn);
    });
  }

  dispose(): void {
    this._leave();
  }

  private readonly _host = h('div', { class: 'smtc-tuning-host' });
  private readonly _leave: () => void;
  private _width = USUAL_WIDTH;
}

/**
 * An axis with its scale.
 */
export interface IAxis extends IGridAxis {
  readonly scale: IScale;
}

/**
 * Return an axis of numbers that holds some values.
 */
export function axisOf(
  label: string,
  values: readonly number[],
  unit: Unit = 'number'
): IAxis {
  const scale = linearOrLog(values.length > 0 ? values : [0, 1]);
  const words = (tick: number): string => format(tick, unit);
  return { label, scale, unit, ...(unit === 'number' ? { words } : {}) };
}

/**
 * Pixels of a value on each axis.
 */
export interface IPixels {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly frame: IFrame;
}

/**
 * Draw two axes and what lies between them.
 *
 * @param words - What a screen reader says of it.
 */
export function plot(
  [x, y]: readonly [IAxis, IAxis],
  [width, height]: readonly [number, number],
  words: string,
  draw: (pixels: IPixels) => readonly SVGElement[]
): SVGSVGElement {
  const geometry = new Geometry(x.scale, y.scale, width, height);
  const at = (value: number): IPlace =>
    geometry.place(exactly(value), exactly(value));
  return s(
    'svg',
    { width, height, role: 'img', 'aria-label': words },
    ...geometry.grid(x, y),
    ...draw({
      x: value => at(value).x.value,
      y: value => at(value).y.value,
      frame: geometry.frame
    })
  );
}

/**
 * Return a line through points.
 */
export function line(
  points: readonly (readonly [number, number])[],
  attributes: Readonly<Record<string, string | number>> = {}
): SVGElement {
  const written = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
  return s('polyline', {
    class: 'smtc-tuning-line',
    points: written.join(' '),
    ...attributes
  });
}

/**
 * Return a bar, as far as a share from 0 to 1, with what it says.
 */
export function bar(share: number, ...words: readonly Node[]): HTMLElement {
  const width = `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`;
  return h(
    'div',
    { class: 'smtc-tuning-row' },
    h(
      'span',
      { class: 'smtc-tuning-bar', 'aria-hidden': 'true' },
      h('span', { style: `width: ${width}` })
    ),
    ...words
  );
}
