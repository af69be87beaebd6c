import type { IPlanInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';
import type { IAxes } from './axes.js';
import { exactly, type Geometry } from './geometry.js';
import { s } from './svg.js';

/**
 * A limit that is a line on the chart; clusters beyond it were left out.
 */
export interface ILimit {
  readonly label: string;

  /**
   * The most seconds; null: the line has all times.
   */
  readonly timeS: number | null;

  /**
   * The most USD; null: the line has all costs. Of a price per hour, in so many seconds.
   */
  readonly usd: number | null;
}

const FAR = 1e9;

/**
 * Return the limits of a plan that are lines on some axes.
 *
 * @param fastestS - The least time on the chart.
 */
export function limitsOf(
  plan: IPlanInfo,
  axes: IAxes,
  fastestS: number
): readonly ILimit[] {
  const { deadlineS, budgetUsd, budgetUsdPerHour } = plan;
  const limits: ILimit[] = [];
  if (axes.time === 'job' && deadlineS !== null) {
    const label = t('deadline: %1', format(deadlineS, 's'));
    limits.push({ label, timeS: deadlineS, usd: null });
  }
  if (axes.cost === 'job' && budgetUsd !== null) {
    const label = t('budget: %1', format(budgetUsd, 'USD'));
    limits.push({ label, timeS: null, usd: budgetUsd });
  }
  const isOfJob = axes.time === 'job';
  if (budgetUsdPerHour !== null && isOfJob === (axes.cost === 'job')) {
    const label = t('budget: %1 an hour', format(budgetUsdPerHour, 'USD'));
    const usd = (fastestS * budgetUsdPerHour) / (isOfJob ? 3600 : 3.6);
    limits.push({ label, timeS: fastestS, usd });
  }
  return limits;
}

/**
 * Draw limits, each with its words.
 */
export function limitLines(
  limits: readonly ILimit[],
  geometry: Geometry
): SVGElement {
  const { left, top, right, bottom } = geometry.frame;
  const lines = limits.map(({ timeS, usd }) => {
    // what is both seconds and dollars is a price: the same for all times
    const rate = timeS === null || usd === null ? null : usd / timeS;
    const ends = [1 / FAR, FAR].map(far =>
      geometry.place(
        exactly(rate === null ? (timeS ?? far) : far),
        exactly(rate === null ? (usd ?? far) : far * rate)
      )
    );
    const [from, to] = ends.map(({ x, y }) => ({
      x: x.value - left,
      y: y.value - top
    }));
    return s('line', {
      x1: from?.x ?? 0,
      y1: from?.y ?? 0,
      x2: to?.x ?? 0,
      y2: to?.y ?? 0
    });
  });
  const texts = limits.map(({ label, timeS, usd }) => {
    const { x, y } = geometry.place(exactly(timeS ?? 1), exactly(usd ?? 1));
    if (timeS !== null && usd !== null) {
      return s('text', { x: x.value + 10, y: y.value + 16 }, label);
    }
    const place =
      usd === null
        ? { x: x.value - 5, y: top + 24 }
        : { x: right - 4, y: y.value - 5 };
    return s('text', { ...place, 'text-anchor': 'end' }, label);
  });
  return s(
    'g',
    { class: 'smtc-plan-limits' },
    // an image within the image cuts off what lies outside of it
    s(
      'svg',
      { x: left, y: top, width: right - left, height: bottom - top },
      ...lines
    ),
    ...texts
  );
}
