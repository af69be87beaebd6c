import type { IInterval, ISetUpLadder } from '@smtc-lab/protocol';
import { format, formatMean } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { clamped, round } from '../picture/draw.js';
import { s } from '../plan/svg.js';
import { whereFrom } from './words.js';

const BEYOND = 1.25;

/**
 * Show from which step and minute on the compiler settings of a set-up pay, and where that is on
 * the time axis of its job.
 *
 * @param jobSteps - Steps of the job; null: not known, and the axis is as long as it needs to be.
 * @returns Nothing where nothing was measured of these settings.
 */
export function paysOf(
  ladder: ISetUpLadder | undefined,
  jobSteps: number | null
): readonly HTMLElement[] {
  const pays = ladder?.pays;
  if (pays == null) {
    return [];
  }
  const { steps, afterS, baseline, isSlower, measured } = pays;
  const from = h('span', { class: 'smtc-soft' }, whereFrom(measured));
  if (steps === null) {
    const never = isSlower
      ? t('The compiler never pays beside %1: its steps are slower.', baseline)
      : t('The compiler never pays beside %1: no gain was seen.', baseline);
    return [h('p', { class: 'smtc-pays' }, never, ' ', from)];
  }
  const step = Math.ceil(steps.mean);
  const begin = formatMean(step, steps, 'count');
  const range = `${count(steps.low)}–${count(steps.high)}`;
  const after =
    afterS === null
      ? ''
      : `${formatMean(afterS.mean, afterS, 's')} (${format(afterS.low, 's')}–${format(afterS.high, 's')})`;
  const said =
    after === ''
      ? t('The compiler pays from step %1 (%2) on.', begin, range)
      : t(
          'The compiler pays from step %1 (%2) on, after %3.',
          begin,
          range,
          after
        );
  const late =
    jobSteps !== null && step > jobSteps
      ? ` ${t('This job ends before that, at step %1.', count(jobSteps))}`
      : '';
  const end = jobSteps ?? Math.max(1, Math.ceil(BEYOND * steps.high));
  return [
    h(
      'div',
      { class: 'smtc-pays' },
      axis(steps, end),
      h('p', {}, said, late, ' ', from)
    )
  ];
}

/**
 * Draw the steps of the job, and hollow, as it is predicted, where the compiler begins to pay.
 */
function axis(steps: IInterval, end: number): SVGSVGElement {
  const x = (value: number): number => round(2 + 96 * clamped(value / end));
  const at = `${x(steps.mean)}%`;
  return s(
    'svg',
    { class: 'smtc-strip', 'aria-hidden': 'true' },
    s('line', { x1: '2%', x2: '98%', y1: 7, y2: 7 }),
    s('rect', {
      class: 'smtc-hollow',
      x: `${x(steps.low)}%`,
      width: `${Math.max(0.5, round(x(steps.high) - x(steps.low)))}%`,
      y: 2.5,
      height: 9,
      rx: 3
    }),
    s('line', { class: 'smtc-mean', x1: at, x2: at, y1: 2.5, y2: 11.5 })
  );
}

function count(steps: number): string {
  return format(Math.ceil(steps), 'count');
}
