import { format, formatTicks } from '../charts/units.js';
import type { Unit } from '../charts/options.js';
import { whenSeen } from '../charts/when_seen.js';
import { h, newId } from '../dom.js';
import { keepFocus } from '../plan/keep_focus.js';
import type { IScale } from '../plan/scale.js';
import { s } from '../plan/svg.js';
import { linearOrLog } from '../run_comparison/scale.js';

const USUAL_WIDTH = 640;
const MOST_WIDTH = 760;
const MARGIN = { left: 58, right: 12, top: 20, bottom: 38 };
const TICK_PX = 70;

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
 * An axis: what it is called, its scale, and how its ticks are written.
 */
export interface IAxis {
  readonly label: string;
  readonly scale: IScale;
  readonly words: (tick: number) => string;
}

/**
 * Return an axis of numbers that holds some values.
 */
export function axisOf(
  label: string,
  values: readonly number[],
  unit: Unit = 'number'
): IAxis {
  const shown = values.filter(Number.isFinite);
  return {
    label,
    scale: linearOrLog(shown.length > 0 ? shown : [0, 1]),
    words: tick =>
      unit === 'number'
        ? format(tick, unit)
        : (formatTicks([tick], tick, unit)[0] ?? '')
  };
}

/**
 * Pixels of a value on each axis.
 */
export interface IPixels {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * Draw two axes and what lies between them.
 *
 * @param words - What a screen reader says of it.
 * @param role - `group`, where its marks can be reached.
 */
export function plot(
  [x, y]: readonly [IAxis, IAxis],
  [width, height]: readonly [number, number],
  words: string,
  draw: (pixels: IPixels) => readonly SVGElement[],
  role: 'group' | 'img' = 'img'
): SVGSVGElement {
  const { left, top } = MARGIN;
  const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom];
  const across = (value: number): number =>
    left + (right - left) * x.scale.place(value);
  const down = (value: number): number =>
    bottom - (bottom - top) * y.scale.place(value);
  const most = Math.max(2, Math.floor((right - left) / TICK_PX));
  const step = Math.ceil(x.scale.ticks.length / most);
  const xs = x.scale.ticks.filter((_, place) => place % step === 0);
  const text = (
    words: string,
    at: readonly [number, number],
    anchor: string
  ): SVGElement =>
    s('text', { x: at[0], y: at[1], 'text-anchor': anchor }, words);
  return s(
    'svg',
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role,
      'aria-label': words
    },
    s(
      'g',
      { class: 'smtc-plan-grid' },
      ...xs.map(tick =>
        s('line', { x1: across(tick), x2: across(tick), y1: top, y2: bottom })
      ),
      ...y.scale.ticks.map(tick =>
        s('line', { x1: left, x2: right, y1: down(tick), y2: down(tick) })
      )
    ),
    s(
      'g',
      { class: 'smtc-plan-ticks', 'aria-hidden': 'true' },
      ...xs.map(tick =>
        text(x.words(tick), [across(tick), bottom + 14], 'middle')
      ),
      ...y.scale.ticks.map(tick =>
        text(y.words(tick), [left - 6, down(tick) + 4], 'end')
      ),
      text(`${x.label} →`, [right, height - 6], 'end'),
      text(`↑ ${y.label}`, [4, 11], 'start')
    ),
    ...draw({ x: across, y: down, left, right, top, bottom })
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
 * Return a group of buttons of which one is pressed.
 */
export function choice<T extends string>(
  label: string,
  options: readonly (readonly [T, string])[],
  onChange: (chosen: T) => void
): HTMLElement {
  const buttons = options.map(([value, words], place) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(place === 0),
        onclick: () => {
          buttons.forEach((each, number) => {
            each.setAttribute('aria-pressed', String(number === place));
          });
          onChange(value);
        }
      },
      words
    )
  );
  return h(
    'div',
    { class: 'smtc-row', role: 'group', 'aria-label': label },
    ...buttons
  );
}
