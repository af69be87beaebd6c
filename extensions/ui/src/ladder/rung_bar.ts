import type { IInterval } from '@smtc-lab/protocol';
import { clamped, round } from '../picture/draw.js';
import { s } from '../plan/svg.js';

/**
 * Draw what a setting saves: a bar from zero, to the right where it saves, with its interval.
 *
 * @param most - End of the scale on both sides.
 * @param isSeen - Whether there is a difference; one that may be none is pale.
 */
export function rungBar(
  { mean, low, high }: IInterval,
  most: number,
  isSeen: boolean
): SVGSVGElement {
  const x = (share: number): number =>
    round(2 + 96 * clamped((share / most + 1) / 2));
  const [from, to] = [Math.min(0, mean), Math.max(0, mean)];
  return s(
    'svg',
    { class: 'smtc-rung-bar', 'aria-hidden': 'true' },
    s('rect', {
      class: isSeen ? 'smtc-solid' : 'smtc-unseen',
      x: `${x(from)}%`,
      width: `${round(x(to) - x(from))}%`,
      y: 3,
      height: 8
    }),
    s('line', { class: 'smtc-zero', x1: '50%', x2: '50%', y1: 0, y2: 14 }),
    s('line', {
      class: 'smtc-ends',
      x1: `${x(low)}%`,
      x2: `${x(high)}%`,
      y1: 7,
      y2: 7
    })
  );
}
