import type { Shape } from '../charts/pen.js';
import { paletteColor, shapeOf } from '../charts/theme.js';
import { s } from '../plan/svg.js';

const SIZE = 14;
const MIDDLE = SIZE / 2;

const DRAWN: Readonly<Record<Shape, () => SVGElement>> = {
  circle: () => s('circle', { cx: MIDDLE, cy: MIDDLE, r: 5 }),
  square: () => s('rect', { x: 2, y: 2, width: 10, height: 10 }),
  triangle: () => s('path', { d: 'M7 1.5l5.5 10.5h-11z' }),
  diamond: () => s('path', { d: 'M7 1l6 6-6 6-6-6z' }),
  cross: () => s('path', { d: 'M5 1h4v4h4v4h-4v4h-4v-4h-4v-4h4z' })
};

/**
 * Return the letter of a set-up: the baseline is A.
 */
export function letterOf(place: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + (place % 26));
}

/**
 * Draw the shape of a set-up, 14 pixels wide.
 */
export function setUpShape(place: number): SVGElement {
  return DRAWN[shapeOf(place)]();
}

/**
 * Draw the mark of a set-up, in its colour.
 */
export function setUpMark(place: number): SVGSVGElement {
  const drawn = s(
    'svg',
    {
      class: 'smtc-mark',
      width: SIZE,
      height: SIZE,
      viewBox: `0 0 ${SIZE} ${SIZE}`,
      'aria-hidden': 'true'
    },
    setUpShape(place)
  );
  drawn.style.fill = paletteColor(place);
  return drawn;
}
