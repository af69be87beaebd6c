import type { ILayer } from './layers.js';
import { yOf, type IGeometry } from './paint.js';
import type { IPen } from './pen.js';
import type { ITheme } from './theme.js';

const SIZE = 11;
const GAP = 10;
const CHARACTER = 8.6; // of bold letters of that size, in CSS pixels
const LINE = 14;
const MOST = 4;
const LEAST_WIDTH = 250;

/**
 * What stands at the end of a line, in place of a legend.
 */
export interface IEndLabel {
  /**
   * Place in the palette of the line.
   */
  readonly color: number;
  readonly text: string;
}

/**
 * Return the room at the right of a plot that labels need, in CSS pixels; 0: there are too many
 * of them, or the plot would be too narrow.
 *
 * @param width - Of the plot and the labels together.
 */
export function roomFor(labels: readonly IEndLabel[], width: number): number {
  if (labels.length === 0 || labels.length > MOST) {
    return 0;
  }
  const longest = Math.max(...labels.map(({ text }) => text.length));
  const room = GAP + Math.ceil(longest * CHARACTER);
  return width - room < LEAST_WIDTH ? 0 : room;
}

/**
 * Write each label beside the end of its line, none over another.
 */
export function paintEndLabels(
  pen: IPen,
  labels: readonly IEndLabel[],
  layers: readonly ILayer[],
  geometry: IGeometry,
  theme: ITheme
): void {
  const { area } = geometry;
  const bottom = area.top + area.height;
  const found = labels
    .flatMap(({ color, text }) => {
      const value = endOf(layers, color, geometry.x.to);
      return value === null ? [] : [{ text, top: yOf(geometry, value) }];
    })
    .map(({ text, top }) => ({
      text,
      top: Math.min(bottom, Math.max(area.top, top))
    }))
    .sort((one, other) => one.top - other.top);
  const tops = spread(
    found.map(({ top }) => top),
    area.top,
    bottom
  );
  found.forEach(({ text }, place) => {
    pen.text(text, area.left + area.width + GAP, tops[place] ?? 0, {
      color: theme.ink,
      size: SIZE,
      isBold: true
    });
  });
}

/**
 * Return places that are a line apart at least, near the given ones, which never decrease.
 */
export function spread(
  tops: readonly number[],
  first: number,
  last: number
): readonly number[] {
  const down: number[] = [];
  for (const top of tops) {
    down.push(Math.max(top, (down.at(-1) ?? first - LINE) + LINE));
  }
  const up: number[] = [];
  for (const top of down.reverse()) {
    up.push(Math.min(top, (up.at(-1) ?? last + LINE) - LINE));
  }
  return up.reverse();
}

/**
 * Return the last value of a line that is seen, or null: there is none.
 */
function endOf(
  layers: readonly ILayer[],
  color: number,
  to: number
): number | null {
  const line = layers.find(
    layer => layer.color === color && layer.evidence !== 'predicted'
  )?.line;
  for (let last = (line?.x.length ?? 0) - 1; last >= 0; last--) {
    const value = line?.y[last] ?? NaN;
    if (!Number.isNaN(value) && (line?.x[last] ?? Infinity) <= to) {
      return value;
    }
  }
  return null;
}
