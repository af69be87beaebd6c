import { s } from '../plan/svg.js';

const SIZE = 14;
const MIDDLE = SIZE / 2;

/**
 * A shape for each set-up, so that nobody needs to tell colours apart.
 */
const SHAPES: readonly (() => SVGElement)[] = [
  () => s('circle', { cx: MIDDLE, cy: MIDDLE, r: 5 }),
  () => s('rect', { x: 2, y: 2, width: 10, height: 10 }),
  () => s('path', { d: 'M7 1.5l5.5 10.5h-11z' }),
  () => s('path', { d: 'M7 1l6 6-6 6-6-6z' }),
  () => s('path', { d: 'M5 1h4v4h4v4h-4v4h-4v-4h-4v-4h4z' })
];

/**
 * Return the letter of a set-up: the baseline is A.
 */
export function letterOf(place: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + (place % 26));
}

/**
 * Draw the mark of a set-up, in its colour.
 */
export function setUpMark(place: number): SVGSVGElement {
  const shape = SHAPES[place % SHAPES.length] as () => SVGElement;
  const drawn = s(
    'svg',
    {
      class: 'smtc-mark',
      width: SIZE,
      height: SIZE,
      viewBox: `0 0 ${SIZE} ${SIZE}`,
      'aria-hidden': 'true'
    },
    shape()
  );
  drawn.style.fill = `var(--smtc-color-${place % SHAPES.length})`;
  return drawn;
}
