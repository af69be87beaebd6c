import type { IEstimate } from '@smtc-lab/protocol';
import { paletteColor } from '../charts/theme.js';
import { t } from '../i18n.js';
import { letterOf, setUpShape } from '../picture/set_up_mark.js';
import type { IPlace } from './geometry.js';
import { bands } from './marks.js';
import { s } from './svg.js';
import { estimateWords } from './words.js';

/**
 * A set-up of a form, where it is on the chart of all clusters.
 */
export interface ISetUpPlace {
  /**
   * Its place among the set-ups, from 0.
   */
  readonly setUp: number;
  readonly stepTimeS: IEstimate;

  /**
   * Null: unknown, and so it is not drawn.
   */
  readonly usdPer1000Steps: IEstimate | null;
}

const HALF = 10;

/**
 * Draw a set-up: its hue, its shape and its letter, hollow because it is predicted, with its 80 %
 * intervals.
 */
export function setUpPlace(
  { setUp, stepTimeS, usdPer1000Steps }: ISetUpPlace,
  place: IPlace
): SVGElement {
  const { x, y } = place;
  const drawn = setUpShape(setUp);
  drawn.setAttribute('class', 'smtc-plan-shape');
  drawn.setAttribute(
    'transform',
    `translate(${x.value - HALF} ${y.value - HALF}) scale(${HALF / 7})`
  );
  const letter = { x: x.value, y: y.value + 4, 'text-anchor': 'middle' };
  return s(
    'g',
    {
      class: 'smtc-plan-set-up',
      style: `color: ${paletteColor(setUp)}`,
      role: 'img',
      'aria-label': t(
        'Set-up %1: %2 a step, %3 per 1,000 steps, predicted',
        letterOf(setUp),
        estimateWords(stepTimeS, 's'),
        estimateWords(usdPer1000Steps, 'USD')
      )
    },
    ...bands(place),
    drawn,
    s('text', letter, letterOf(setUp))
  );
}
