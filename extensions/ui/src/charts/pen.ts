/**
 * How something is drawn.
 */
export interface IInk {
  readonly color: string;

  /**
   * Width of lines in CSS pixels.
   */
  readonly width?: number;

  /**
   * Lengths of dashes and gaps in CSS pixels; none: solid.
   */
  readonly dash?: readonly number[];

  /**
   * From 0, not seen, to 1.
   */
  readonly alpha?: number;
}

/**
 * The form of a mark, so that colour is never the only difference.
 */
export type Shape = 'circle' | 'square' | 'triangle' | 'diamond' | 'cross';

/**
 * A rectangle in CSS pixels, from the left and from the top.
 */
export interface IBox {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * What views draw with: a canvas, or an SVG image. All places are CSS pixels; NaN is a gap.
 */
export interface IPen {
  /**
   * Draw a line through places.
   */
  line(x: Float64Array, y: Float64Array, ink: IInk): void;

  /**
   * Fill what lies between two lines.
   */
  band(x: Float64Array, low: Float64Array, high: Float64Array, ink: IInk): void;

  /**
   * Draw an upright line, as wide as a pixel, at each place.
   */
  bars(x: Float64Array, low: Float64Array, high: Float64Array, ink: IInk): void;

  /**
   * Draw marks, filled or hollow.
   *
   * @param radius - In CSS pixels.
   */
  marks(
    x: Float64Array,
    y: Float64Array,
    mark: {
      readonly shape: Shape;
      readonly radius: number;
      readonly isHollow: boolean;
    },
    ink: IInk
  ): void;

  /**
   * Fill rectangles.
   */
  boxes(boxes: readonly IBox[], ink: IInk): void;

  /**
   * Write text.
   */
  text(
    text: string,
    left: number,
    top: number,
    style: {
      readonly color: string;
      readonly size: number;
      readonly align?: 'start' | 'middle' | 'end';
      readonly isBold?: boolean;
    }
  ): void;

  /**
   * Let what `draw` draws be seen in a box only.
   */
  within(box: IBox, draw: () => void): void;
}

/**
 * Where an outline is drawn. Nothing is closed: a canvas needs long for that where there are
 * many pieces, and filling closes them anyway.
 */
export interface IOutlinePath {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/**
 * Draw the pieces of a line that is broken where y is NaN.
 */
export function traceLine(
  path: IOutlinePath,
  x: Float64Array,
  y: Float64Array
): void {
  let isDown = false;
  for (let place = 0; place < x.length; place++) {
    const top = y[place] as number;
    if (Number.isNaN(top)) {
      isDown = false;
    } else if (isDown) {
      path.lineTo(x[place] as number, top);
    } else {
      path.moveTo(x[place] as number, top);
      isDown = true;
    }
  }
}

/**
 * Draw an upright line at each place.
 */
export function traceBars(
  path: IOutlinePath,
  x: Float64Array,
  low: Float64Array,
  high: Float64Array
): void {
  for (let place = 0; place < x.length; place++) {
    const top = low[place] as number;
    if (!Number.isNaN(top)) {
      path.moveTo(x[place] as number, top);
      path.lineTo(x[place] as number, high[place] as number);
    }
  }
}

/**
 * Draw the outline of what lies between two lines, half a pixel wider at its ends: a single
 * place would have no width.
 */
export function traceBand(
  path: IOutlinePath,
  x: Float64Array,
  low: Float64Array,
  high: Float64Array
): void {
  const isKnown = (place: number): boolean =>
    !Number.isNaN(low[place]) && !Number.isNaN(high[place]);
  for (let begin = 0; begin < x.length; begin++) {
    if (isKnown(begin)) {
      let end = begin;
      while (end + 1 < x.length && isKnown(end + 1)) {
        end += 1;
      }
      traceRun(path, x, [high, low], [begin, end]);
      begin = end;
    }
  }
}

function traceRun(
  path: IOutlinePath,
  x: Float64Array,
  [high, low]: readonly [Float64Array, Float64Array],
  [begin, end]: readonly [number, number]
): void {
  const left = (x[begin] as number) - 0.5;
  const right = (x[end] as number) + 0.5;
  path.moveTo(left, high[begin] as number);
  for (let place = begin; place <= end; place++) {
    path.lineTo(x[place] as number, high[place] as number);
  }
  path.lineTo(right, high[end] as number);
  path.lineTo(right, low[end] as number);
  for (let place = end; place >= begin; place--) {
    path.lineTo(x[place] as number, low[place] as number);
  }
  path.lineTo(left, low[begin] as number);
}

/**
 * Draw the outline of a mark of corners. A circle has none.
 */
export function tracePolygon(
  path: IOutlinePath,
  shape: Exclude<Shape, 'circle'>,
  x: number,
  y: number,
  r: number
): void {
  const corners = CORNERS[shape];
  const { length } = corners;
  path.moveTo(
    x + (corners[length - 2] as number) * r,
    y + (corners[length - 1] as number) * r
  );
  for (let place = 0; place < length; place += 2) {
    path.lineTo(
      x + (corners[place] as number) * r,
      y + (corners[place + 1] as number) * r
    );
  }
}

// prettier-ignore -- pairs of left and top
const CORNERS: Readonly<Record<Exclude<Shape, 'circle'>, readonly number[]>> = {
  square: [-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9],
  triangle: [0, -1.2, 1.1, 0.8, -1.1, 0.8],
  diamond: [0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0],
  cross: [
    -0.4, -1.1, 0.4, -1.1, 0.4, -0.4, 1.1, -0.4, 1.1, 0.4, 0.4, 0.4, 0.4, 1.1,
    -0.4, 1.1, -0.4, 0.4, -1.1, 0.4, -1.1, -0.4, -0.4, -0.4
  ]
};
