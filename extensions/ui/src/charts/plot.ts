import type uPlot from 'uplot';
import { CanvasPen } from './canvas_pen.js';
import type { IAxis } from './options.js';
import type { IGeometry } from './paint.js';
import type { IBox, IPen } from './pen.js';
import type { IRange } from './ranges.js';
import type { ITheme } from './theme.js';
import { formatTicks, tickSteps } from './units.js';

const FONT_PIXELS = 11;
const X_SIZE = 22;
const RIGHT = 14;
const X_SPACE = 72;
const Y_SPACE = 30;
const LARGEST_SHARE = 0.4; // of the width, for the names of rows

/**
 * What a plot needs to know.
 */
export interface IPlotOptions {
  readonly x: IAxis;
  readonly y: IAxis;
  readonly width: number;
  readonly height: number;
  readonly theme: ITheme;

  /**
   * Names of the rows of the y axis, from the top; null: it has numbers.
   */
  readonly rows: () => readonly string[] | null;

  /**
   * Return the room at the right that is painted into, of a width in CSS pixels.
   */
  readonly room: (width: number) => number;

  /**
   * Paint on the axes. It keeps to its area, and to that room.
   */
  readonly paint: (pen: IPen, geometry: IGeometry) => void;
}

/**
 * One mark of an axis.
 */
export interface ITick {
  readonly at: number;
  readonly label: string;
}

/**
 * Axes on a canvas, which uPlot draws. The only file that knows uPlot.
 */
export class Plot {
  /**
   * Put a plot into an element. uPlot is started with the first one: it wants a real browser.
   */
  static async open(host: HTMLElement, options: IPlotOptions): Promise<Plot> {
    const { default: UPlot } = await import('uplot');
    return new Plot(UPlot, host, options);
  }

  private constructor(
    UPlot: typeof uPlot,
    host: HTMLElement,
    private readonly _options: IPlotOptions
  ) {
    const { x, y, width, height } = _options;
    this._plot = new UPlot(
      {
        width,
        height,
        padding: [
          8,
          (plot): number => Math.max(RIGHT, _options.room(plot.width)),
          0,
          0
        ],
        legend: { show: false },
        cursor: { show: false },
        select: { show: false, left: 0, top: 0, width: 0, height: 0 },
        scales: {
          // just what is asked for: uPlot would add some room
          x: {
            time: false,
            auto: false,
            range: (_plot, from, to) => [from, to]
          },
          y: { auto: false, range: (_plot, from, to) => [from, to] }
        },
        series: [{}],
        axes: [this._axis(x, 'x'), this._axis(y, 'y')],
        hooks: {
          draw: [
            (): void => {
              this._paint();
            }
          ]
        }
      },
      [[]],
      host
    );
  }

  /**
   * Where the values lie, in CSS pixels from the left and the top of the plot.
   */
  get area(): IBox {
    const { left, top, width, height } = this._plot.bbox;
    const ratio = devicePixelRatio;
    return {
      left: left / ratio,
      top: top / ratio,
      width: width / ratio,
      height: height / ratio
    };
  }

  /**
   * The marks of both axes, as they were drawn last.
   */
  get ticks(): { readonly x: readonly ITick[]; readonly y: readonly ITick[] } {
    return this._ticks;
  }

  /**
   * Draw parts of both axes, and what is painted on them.
   */
  draw(x: IRange, y: IRange): void {
    this._seen = { x, y };
    this._plot.batch(() => {
      this._plot.setScale('x', { min: x.from, max: x.to });
      this._plot.setScale('y', { min: y.from, max: y.to });
    });
  }

  /**
   * Change the size of the whole.
   */
  resize(width: number, height: number): void {
    if (width !== this._plot.width || height !== this._plot.height) {
      this._plot.setSize({ width, height });
    }
  }

  /**
   * Take it out of its element.
   */
  dispose(): void {
    this._plot.destroy();
  }

  private _paint(): void {
    if (this._seen === null) {
      return;
    }
    const { ctx } = this._plot;
    ctx.save();
    ctx.scale(devicePixelRatio, devicePixelRatio);
    const geometry = { area: this.area, ...this._seen };
    const pen = new CanvasPen(ctx, this._options.theme.font);
    this._options.paint(pen, geometry);
    ctx.restore();
  }

  private _axis({ unit }: IAxis, place: 'x' | 'y'): uPlot.Axis {
    const { theme, rows } = this._options;
    const names = (): readonly string[] | null =>
      place === 'y' ? rows() : null;
    const lines = { stroke: theme.grid, width: 1 };
    return {
      font: `${FONT_PIXELS}px ${theme.font}`,
      stroke: theme.muted,
      grid: { ...lines, show: names() === null },
      ticks: { ...lines, size: 4, show: names() === null },
      gap: 4,
      space: place === 'x' ? X_SPACE : Y_SPACE,
      incrs: tickSteps(unit),
      ...(names() === null
        ? {}
        : {
            splits: (): number[] =>
              (names() ?? []).map((_, row, all) => all.length - row - 0.5)
          }),
      values: (plot, splits, _axis, _space, step): string[] => {
        const labels =
          names()?.map(name => this._shortened(plot, name)) ??
          formatTicks(splits, step, unit);
        this._ticks[place] = splits.map((at, tick) => ({
          at,
          label: labels[tick] ?? ''
        }));
        return labels;
      },
      size:
        place === 'x'
          ? X_SIZE
          : (plot, labels): number => this._widthOf(plot, labels)
    };
  }

  /**
   * Return the room that labels need, in steps, so that the plot does not move all the time.
   */
  private _widthOf(plot: uPlot, labels: readonly string[] | null): number {
    const widths = (labels ?? []).map(label => this._measure(plot, label));
    const most = LARGEST_SHARE * plot.width;
    return Math.ceil((Math.min(most, Math.max(24, ...widths)) + 10) / 8) * 8;
  }

  private _measure({ ctx }: uPlot, text: string): number {
    ctx.save();
    ctx.font = `${FONT_PIXELS}px ${this._options.theme.font}`;
    const { width } = ctx.measureText(text);
    ctx.restore();
    return width;
  }

  private _shortened(plot: uPlot, label: string): string {
    const most = LARGEST_SHARE * plot.width;
    let text = label.slice(0, 200);
    while (text.length > 1 && this._measure(plot, text) > most) {
      text = `${text.slice(0, Math.floor(text.length * 0.9) - 1)}…`;
    }
    return text;
  }

  private readonly _plot: uPlot;
  private readonly _ticks: { x: readonly ITick[]; y: readonly ITick[] } = {
    x: [],
    y: []
  };
  private _seen: { readonly x: IRange; readonly y: IRange } | null = null;
}
