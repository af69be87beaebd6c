import {
  traceBand,
  traceBars,
  traceLine,
  tracePolygon,
  type IBox,
  type IInk,
  type IOutlinePath,
  type IPen,
  type Shape
} from './pen.js';
import { plainText } from '@smtc-lab/protocol';
import { newId } from '../dom.js';

const NAMESPACE = 'http://www.w3.org/2000/svg';

/**
 * Draws an SVG image, element by element: texts become text nodes, never markup.
 */
export class SvgPen implements IPen {
  /**
   * The image.
   */
  readonly svg: SVGSVGElement;

  /**
   * @param width - In CSS pixels.
   * @param height - In CSS pixels.
   * @param font - Family of all texts.
   */
  constructor(width: number, height: number, font: string) {
    this.svg = this._element('svg', {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      'font-family': font
    }) as SVGSVGElement;
    this._parent = this.svg;
  }

  line(x: Float64Array, y: Float64Array, ink: IInk): void {
    const path = new PathText();
    traceLine(path, x, y);
    this._add('path', { d: path.text, ...stroke(ink) });
  }

  bars(
    x: Float64Array,
    low: Float64Array,
    high: Float64Array,
    ink: IInk
  ): void {
    const path = new PathText();
    traceBars(path, x, low, high);
    this._add('path', {
      d: path.text,
      ...stroke({ ...ink, width: 1, dash: [] })
    });
  }

  band(
    x: Float64Array,
    low: Float64Array,
    high: Float64Array,
    ink: IInk
  ): void {
    const path = new PathText();
    traceBand(path, x, low, high);
    this._add('path', { d: path.text, ...fill(ink) });
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
    const path = new PathText();
    for (let place = 0; place < x.length; place++) {
      const left = x[place] as number;
      const top = y[place] as number;
      if (Number.isNaN(top)) {
        continue;
      }
      if (shape === 'circle') {
        path.circle(left, top, radius);
      } else {
        tracePolygon(path, shape, left, top, radius);
      }
    }
    const style = isHollow ? stroke({ ...ink, width: 1, dash: [] }) : fill(ink);
    this._add('path', { d: path.text, ...style });
  }

  boxes(boxes: readonly IBox[], ink: IInk): void {
    for (const { left, top, width, height } of boxes) {
      this._add('rect', { x: left, y: top, width, height, ...fill(ink) });
    }
  }

  text(
    text: string,
    left: number,
    top: number,
    style: Parameters<IPen['text']>[3]
  ): void {
    const element = this._add('text', {
      x: round(left),
      y: round(top),
      fill: style.color,
      'font-size': style.size,
      'font-weight': style.isBold === true ? 600 : 400,
      'text-anchor': style.align ?? 'start',
      'dominant-baseline': 'central'
    });
    element.textContent = plainText(text);
  }

  within(box: IBox, draw: () => void): void {
    const id = newId();
    const clip = this._add('clipPath', { id });
    const { left, top, width, height } = box;
    clip.append(this._element('rect', { x: left, y: top, width, height }));
    const outer = this._parent;
    this._parent = this._add('g', { 'clip-path': `url(#${id})` });
    draw();
    this._parent = outer;
  }

  /**
   * Return the image as a file.
   */
  toText(): string {
    return new XMLSerializer().serializeToString(this.svg);
  }

  private _add(tag: string, attributes: Attributes): SVGElement {
    const element = this._element(tag, attributes);
    this._parent.append(element);
    return element;
  }

  private _element(tag: string, attributes: Attributes): SVGElement {
    const element = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(attributes)) {
      element.setAttribute(name, String(value));
    }
    return element;
  }

  private _parent: SVGElement;
}

type Attributes = Readonly<Record<string, string | number>>;

/**
 * The outline of a path, as SVG writes it.
 */
class PathText implements IOutlinePath {
  get text(): string {
    return this._parts.join('');
  }

  moveTo(x: number, y: number): void {
    this._parts.push(`M${round(x)} ${round(y)}`);
  }

  lineTo(x: number, y: number): void {
    this._parts.push(`L${round(x)} ${round(y)}`);
  }

  circle(x: number, y: number, r: number): void {
    const arc = `a${r} ${r} 0 1 0`;
    this.moveTo(x - r, y);
    this._parts.push(`${arc} ${2 * r} 0${arc} ${-2 * r} 0Z`);
  }

  private readonly _parts: string[] = [];
}

function stroke(ink: IInk): Attributes {
  return {
    fill: 'none',
    stroke: ink.color,
    'stroke-width': ink.width ?? 1,
    'stroke-opacity': ink.alpha ?? 1,
    'stroke-dasharray': ink.dash?.join(' ') || 'none',
    'stroke-linejoin': 'bevel'
  };
}

function fill(ink: IInk): Attributes {
  return { fill: ink.color, 'fill-opacity': ink.alpha ?? 1 };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
