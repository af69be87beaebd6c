import { formatTicks } from '../charts/units.js';
import type { IPlanAxis } from './axes.js';
import type { Ends, IScale } from './scale.js';
import { s } from './svg.js';

/**
 * Height of the chart in CSS pixels.
 */
export const HEIGHT = 340;

/**
 * Where the inside of the chart begins, behind the labels of its ticks.
 */
export const FRAME_LEFT = 62;

const MARGIN = { left: FRAME_LEFT, right: 14, top: 12, bottom: 42 };
const TICK_PIXELS = 70;

/**
 * An estimate of time and one of cost, as pixels.
 */
export interface IPlace {
  readonly x: Ends;
  readonly y: Ends;

  /**
   * Pixels to the right of it.
   */
  readonly room: number;
}

/**
 * What is written along an axis.
 */
export interface IGridAxis extends Pick<IPlanAxis, 'label' | 'unit'> {
  /**
   * Writes a tick, where its unit does not.
   */
  readonly words?: (tick: number) => string;
}

/**
 * A rectangle, in pixels.
 */
export interface IFrame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * Where things of the chart are.
 */
export class Geometry {
  constructor(
    private readonly _x: IScale,
    private readonly _y: IScale,
    private readonly _width: number,
    private readonly _height = HEIGHT
  ) {}

  /**
   * Return where a cluster or a run is.
   */
  place(time: Ends, cost: Ends): IPlace {
    const x = over(time, value => this._left(value));
    return {
      x,
      y: over(cost, value => this._top(value)),
      room: this._width - x.value
    };
  }

  /**
   * The inside of the chart, without ticks and labels.
   */
  get frame(): IFrame {
    return {
      left: MARGIN.left,
      right: this._width - MARGIN.right,
      top: MARGIN.top,
      bottom: this._height - MARGIN.bottom
    };
  }

  /**
   * Return grid, ticks and labels.
   */
  grid(time: IGridAxis, cost: IGridAxis): readonly SVGElement[] {
    const right = this._width - MARGIN.right;
    const bottom = this._height - MARGIN.bottom;
    const xs = spaced(
      this._x.ticks,
      Math.max(2, Math.floor((right - MARGIN.left) / TICK_PIXELS))
    );
    const lines = [
      ...xs.map(tick => {
        const x = this._left(tick);
        return s('line', { x1: x, x2: x, y1: MARGIN.top, y2: bottom });
      }),
      ...this._y.ticks.map(tick => {
        const y = this._top(tick);
        return s('line', { x1: MARGIN.left, x2: right, y1: y, y2: y });
      })
    ];
    const texts = [
      ...xs.map(tick =>
        write(tickText(tick, time), this._left(tick), bottom + 14, 'middle')
      ),
      ...this._y.ticks.map(tick =>
        write(tickText(tick, cost), MARGIN.left - 6, this._top(tick) + 4, 'end')
      ),
      write(`${time.label} →`, right, this._height - 8, 'end'),
      // text that stands upright is hard to read: the label lies over its axis
      write(`↑ ${cost.label}`, MARGIN.left + 4, MARGIN.top + 8, 'start')
    ];
    return [
      s('g', { class: 'smtc-plan-grid' }, ...lines),
      s('g', { class: 'smtc-plan-ticks' }, ...texts)
    ];
  }

  private _left(time: number): number {
    const width = this._width - MARGIN.left - MARGIN.right;
    return MARGIN.left + width * this._x.place(time);
  }

  private _top(cost: number): number {
    const height = this._height - MARGIN.top - MARGIN.bottom;
    return MARGIN.top + height * (1 - this._y.place(cost));
  }
}

/**
 * Return a number that is known exactly as an estimate.
 */
export function exactly(value: number): Ends {
  return { value, low: value, high: value };
}

function over(
  { value, low, high }: Ends,
  place: (value: number) => number
): Ends {
  return { value: place(value), low: place(low), high: place(high) };
}

function write(
  text: string,
  x: number,
  y: number,
  anchor: 'start' | 'middle' | 'end'
): SVGTextElement {
  return s('text', { x, y, 'text-anchor': anchor }, text);
}

function tickText(tick: number, axis: IGridAxis): string {
  return axis.words?.(tick) ?? formatTicks([tick], tick, axis.unit)[0] ?? '';
}

/**
 * Return at most so many of some ticks, evenly.
 */
function spaced(ticks: readonly number[], most: number): readonly number[] {
  const step = Math.ceil(ticks.length / most);
  return ticks.filter((_, place) => place % step === 0);
}
