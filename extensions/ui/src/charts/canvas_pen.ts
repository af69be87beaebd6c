import { plainText } from '@smtc-lab/protocol';
import {
  traceBand,
  traceBars,
  traceLine,
  tracePolygon,
  type IBox,
  type IInk,
  type IPen,
  type Shape
} from './pen.js';

/**
 * Draws on a canvas whose unit is a CSS pixel.
 */
export class CanvasPen implements IPen {
  /**
   * @param font - Family of all texts.
   */
  constructor(
    private readonly _context: CanvasRenderingContext2D,
    private readonly _font: string
  ) {}

  line(x: Float64Array, y: Float64Array, ink: IInk): void {
    this._context.beginPath();
    traceLine(this._context, x, y);
    this._stroke(ink);
  }

  bars(
    x: Float64Array,
    low: Float64Array,
    high: Float64Array,
    ink: IInk
  ): void {
    this._context.beginPath();
    traceBars(this._context, x, low, high);
    this._stroke({ ...ink, width: 1, dash: [] });
  }

  band(
    x: Float64Array,
    low: Float64Array,
    high: Float64Array,
    ink: IInk
  ): void {
    const context = this._context;
    context.beginPath();
    traceBand(context, x, low, high);
    this._fill(ink);
  }

  marks(
    x: Float64Array,
    y: Float64Array,
    {
      shape,
      radius,
      isHollow
    }: { shape: Shape; radius: number; isHollow: boolean },
    ink: IInk
  ): void {
    const context = this._context;
    context.beginPath();
    for (let place = 0; place < x.length; place++) {
      const left = x[place] as number;
      const top = y[place] as number;
      if (Number.isNaN(top)) {
        continue;
      }
      if (shape === 'circle') {
        context.moveTo(left + radius, top);
        context.arc(left, top, radius, 0, 2 * Math.PI);
      } else {
        tracePolygon(context, shape, left, top, radius);
      }
    }
    if (isHollow) {
      this._stroke({ ...ink, width: 1, dash: [] });
    } else {
      this._fill(ink);
    }
  }

  boxes(boxes: readonly IBox[], ink: IInk): void {
    const context = this._context;
    context.fillStyle = ink.color;
    context.globalAlpha = ink.alpha ?? 1;
    for (const { left, top, width, height } of boxes) {
      context.fillRect(left, top, width, height);
    }
  }

  text(
    text: string,
    left: number,
    top: number,
    style: Parameters<IPen['text']>[3]
  ): void {
    const context = this._context;
    const align = style.align ?? 'start';
    context.font = `${style.isBold === true ? '600 ' : ''}${style.size}px ${this._font}`;
    context.textAlign = align === 'middle' ? 'center' : align;
    context.textBaseline = 'middle';
    context.fillStyle = style.color;
    context.globalAlpha = 1;
    context.fillText(plainText(text), left, top);
  }

  within(box: IBox, draw: () => void): void {
    const context = this._context;
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    draw();
    context.restore();
  }

  private _stroke(ink: IInk): void {
    const context = this._context;
    context.strokeStyle = ink.color;
    context.lineWidth = ink.width ?? 1;
    context.lineJoin = 'bevel';
    context.globalAlpha = ink.alpha ?? 1;
    context.setLineDash([...(ink.dash ?? [])]);
    context.stroke();
  }

  private _fill(ink: IInk): void {
    this._context.fillStyle = ink.color;
    this._context.globalAlpha = ink.alpha ?? 1;
    this._context.fill();
  }
}
