import { dashed, envelope } from './envelope.js';
import type { ILayer } from './layers.js';
import type { Evidence, IShade } from './options.js';
import type { IStrip } from './outline.js';
import type { IBox, IInk, IPen, Shape } from './pen.js';
import { isWithin, type IRange } from './ranges.js';
import { colorOf, shapeOf, type ITheme } from './theme.js';

/**
 * Where what is seen lies on the page.
 */
export interface IGeometry {
  readonly area: IBox;
  readonly x: IRange;
  readonly y: IRange;
}

const DASHES: Readonly<Record<Evidence, readonly [number, number] | null>> = {
  measured: null,
  emulated: [7, 4],
  predicted: [2, 4]
};
const RADIUS = 2;
const END_RADIUS = 4;
const LINE_WIDTH = 1.6;
const FAINT = 0.4;
const ARROW_PIXELS = 10;
const HATCH_PIXELS = 6;

/**
 * Draw layers: predicted ones behind all others, lines before marks that matter less.
 */
export function paintLayers(
  pen: IPen,
  layers: readonly ILayer[],
  geometry: IGeometry,
  theme: ITheme
): void {
  const isBehind = (layer: ILayer): boolean => layer.evidence === 'predicted';
  const inOrder = [
    ...layers.filter(isBehind),
    ...layers.filter(layer => !isBehind(layer))
  ];
  const each = (paint: PaintLayer): void => {
    for (const layer of inOrder) {
      paint(pen, layer, geometry, theme);
    }
  };
  pen.within(geometry.area, () => {
    each(paintFaintMarks);
    each(paintBand);
    each(paintLine);
    each(paintMarks);
  });
  // half of these may be beyond the ends of the axis
  each(paintArrows);
  each(paintEnd);
}

/**
 * Draw what a series looks like into a box, for a legend.
 */
export function paintSample(
  pen: IPen,
  layer: Pick<ILayer, 'evidence' | 'color'>,
  { left, top, width, height }: IBox,
  theme: ITheme
): void {
  const middle = top + height / 2;
  const ink = { ...lineInk(layer, theme), width: 2 };
  pen.line(
    Float64Array.of(left, left + width),
    Float64Array.of(middle, middle),
    ink
  );
  const center = [Float64Array.of(left + width / 2), Float64Array.of(middle)];
  const [x, y] = center as [Float64Array, Float64Array];
  pen.marks(x, y, { ...markOf(layer), radius: END_RADIUS }, ink);
}

/**
 * Shade a part of a chart; where it has no width, draw an upright line.
 */
export function paintShade(
  pen: IPen,
  box: IBox,
  look: IShade['look'],
  theme: ITheme
): void {
  const { left, top, width, height } = box;
  const ink = { color: theme.muted, alpha: FAINT };
  const bottom = top + height;
  if (width === 0 && look === undefined) {
    pen.line(Float64Array.of(left, left), Float64Array.of(top, bottom), {
      ...ink,
      dash: [4, 3]
    });
  } else if (look === 'lost') {
    const x: number[] = [];
    const y: number[] = [];
    for (let at = left - height; at < left + width; at += HATCH_PIXELS) {
      x.push(at, at + height, at);
      y.push(bottom, top, NaN);
    }
    pen.within(box, () => {
      pen.line(Float64Array.from(x), Float64Array.from(y), ink);
    });
  } else {
    pen.boxes([box], { color: theme.shade });
  }
}

/**
 * Return the place of a value on the page, from the left or from the top.
 */
export function xOf({ area, x }: IGeometry, value: number): number {
  return area.left + ((value - x.from) / (x.to - x.from)) * area.width;
}

/**
 * Return the places of values on the page, from the top.
 */
export function yOf({ area, y }: IGeometry, value: number): number {
  return area.top + ((y.to - value) / (y.to - y.from)) * area.height;
}

type PaintLayer = (
  pen: IPen,
  layer: ILayer,
  geometry: IGeometry,
  theme: ITheme
) => void;

function paintFaintMarks(
  ...[pen, layer, geometry, theme]: Parameters<PaintLayer>
): void {
  if (layer.isFaint === true) {
    paintAllMarks(pen, layer, geometry, theme, FAINT);
  }
}

function paintMarks(
  ...[pen, layer, geometry, theme]: Parameters<PaintLayer>
): void {
  if (layer.isFaint !== true) {
    paintAllMarks(pen, layer, geometry, theme, 1);
  }
}

function paintAllMarks(
  pen: IPen,
  layer: ILayer,
  geometry: IGeometry,
  theme: ITheme,
  alpha: number
): void {
  if (layer.marks !== undefined) {
    const [x, y] = placed(layer.marks, geometry);
    const mark = { ...markOf(layer), radius: RADIUS };
    pen.marks(x, y, mark, { color: colorOf(theme, layer.color), alpha });
  }
}

function paintBand(
  pen: IPen,
  { band, color }: ILayer,
  geometry: IGeometry,
  theme: ITheme
): void {
  if (band !== undefined) {
    const [x, low] = placed({ x: band.x, y: band.low }, geometry);
    const [, high] = placed({ x: band.x, y: band.high }, geometry);
    pen.band(x, low, high, { color: colorOf(theme, color), alpha: 0.22 });
  }
}

function paintLine(
  pen: IPen,
  layer: ILayer,
  geometry: IGeometry,
  theme: ITheme
): void {
  if (layer.line === undefined) {
    return;
  }
  const [x, y] = placed(layer.line, geometry);
  const { left, width } = geometry.area;
  const band = envelope(x, y, LINE_WIDTH, [
    Math.round(left),
    Math.round(width)
  ]);
  const ink = lineInk(layer, theme);
  const dash = DASHES[layer.evidence];
  if (dash === null) {
    pen.bars(band.x, band.low, band.high, ink);
    return;
  }
  const dashes = dashed(band, dash, 'dashes');
  pen.bars(dashes.x, dashes.low, dashes.high, ink);
  // also what lies between dashes is seen: it may be a spike
  const gaps = dashed(band, dash, 'gaps');
  pen.bars(gaps.x, gaps.low, gaps.high, { ...ink, alpha: FAINT });
}

/**
 * Mark the last place of a line that is seen.
 */
function paintEnd(
  pen: IPen,
  layer: ILayer,
  geometry: IGeometry,
  theme: ITheme
): void {
  const { x, y } = layer.line ?? {
    x: new Float64Array(),
    y: new Float64Array()
  };
  let last = x.length - 1;
  while (
    last >= 0 &&
    (Number.isNaN(y[last]) || (x[last] as number) > geometry.x.to)
  ) {
    last -= 1;
  }
  if (last >= 0 && isWithin(y[last] as number, geometry.y)) {
    const place = {
      x: x.subarray(last, last + 1),
      y: y.subarray(last, last + 1)
    };
    const [left, top] = placed(place, geometry);
    const mark = { ...markOf(layer), radius: END_RADIUS };
    pen.marks(left, top, mark, lineInk(layer, theme));
  }
}

/**
 * Point up where something is higher than what is seen, so that nothing is hidden in silence.
 */
function paintArrows(
  pen: IPen,
  layer: ILayer,
  geometry: IGeometry,
  theme: ITheme
): void {
  const strip = layer.marks ?? layer.line;
  const places: number[] = [];
  strip?.y.forEach((value, place) => {
    const x = xOf(geometry, strip.x[place] as number);
    if (
      value > geometry.y.to &&
      isWithin(strip.x[place] as number, geometry.x) &&
      x - (places[places.length - 1] ?? -Infinity) >= ARROW_PIXELS
    ) {
      places.push(x);
    }
  });
  if (places.length === 0) {
    return;
  }
  pen.marks(
    Float64Array.from(places),
    new Float64Array(places.length).fill(geometry.area.top + END_RADIUS + 1),
    { shape: 'triangle', radius: END_RADIUS, isHollow: markOf(layer).isHollow },
    { color: colorOf(theme, layer.color) }
  );
}

function placed(
  strip: IStrip,
  geometry: IGeometry
): [x: Float64Array, y: Float64Array] {
  const { area, x, y } = geometry;
  const across = area.width / (x.to - x.from);
  const down = area.height / (y.to - y.from);
  return [
    strip.x.map(value => area.left + (value - x.from) * across),
    strip.y.map(value => area.top + (y.to - value) * down)
  ];
}

function lineInk(
  { color, evidence }: Pick<ILayer, 'evidence' | 'color'>,
  theme: ITheme
): IInk {
  return {
    color: colorOf(theme, color),
    width: LINE_WIDTH,
    dash: DASHES[evidence] ?? []
  };
}

function markOf({ color, evidence }: Pick<ILayer, 'evidence' | 'color'>): {
  shape: Shape;
  isHollow: boolean;
} {
  return {
    shape: shapeOf(color),
    isHollow: evidence !== 'measured'
  };
}
