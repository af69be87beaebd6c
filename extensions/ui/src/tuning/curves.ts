import type { ITrialInfo, ITuningInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { bounded } from '../bounded.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { s } from '../plan/svg.js';
import { axisOf, Figure, line, plot, type IPixels } from './plot.js';
import { colorOf, judged } from './words.js';

const HEIGHT = 250;
const CROSS = 'm-4 -4l8 8m0 -8l-8 8';
const RING = 'm-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0';
const MOST_REASONS = 6;
const MOST_NAMED = 12;

/**
 * The objective of trials while they were trained; crossed where one was stopped, and why.
 */
export function curves(info: () => ITuningInfo | null): Figure {
  return new Figure(t('Trials while they were trained'), width => {
    const told = info();
    if (told === null || told.curves.length === 0) {
      return [];
    }
    const points = told.curves.flatMap(curve => curve.points);
    const x = axisOf(
      t('values of the objective'),
      [1, ...points.map(([at]) => at)],
      'count'
    );
    const y = axisOf(
      told.objective,
      points.map(([, value]) => value)
    );
    const stopped = told.trials.filter(({ state }) => state === 'Stopped');
    const words = t(
      '%1 of %2 trials while they were trained; %3 were stopped before their end.',
      told.curves.length,
      told.begun,
      stopped.length
    );
    return [
      h(
        'p',
        { class: 'smtc-chart-label' },
        t('dashed, with a cross: stopped; a ring: waits at a rung')
      ),
      plot([x, y], [width, HEIGHT], words, pixels => drawn(told, pixels)),
      ...whyStopped(stopped)
    ];
  });
}

function drawn(told: ITuningInfo, pixels: IPixels): readonly SVGElement[] {
  const order = judged(told).map(({ number }) => number);
  const trials = new Map(told.trials.map(trial => [trial.number, trial]));
  const rank = (number: number): number =>
    order.includes(number) ? order.indexOf(number) : order.length;
  return [...told.curves]
    .sort((a, b) => rank(b.trial) - rank(a.trial))
    .flatMap(({ trial, points }) => {
      const state = trials.get(trial)?.state ?? '';
      const [at, last] = points.at(-1) ?? [0, 0];
      const [x, y] = [pixels.x(at), pixels.y(last)];
      const color = `stroke: ${colorOf(rank(trial), order.length + 1)}`;
      const isStopped = state === 'Stopped' || state === 'Failed';
      return [
        line(
          points.map(([a, b]) => [pixels.x(a), pixels.y(b)] as const),
          {
            style: `${color}${trial === order[0] ? '; stroke-width: 3' : ''}`,
            ...(isStopped ? { 'stroke-dasharray': '5 4' } : {})
          }
        ),
        ...(isStopped || state === 'Paused'
          ? [
              s('path', {
                class: 'smtc-tuning-end',
                d: `M${x} ${y}${isStopped ? CROSS : RING}`,
                style: color
              })
            ]
          : [])
      ];
    });
}

function whyStopped(stopped: readonly ITrialInfo[]): readonly HTMLElement[] {
  const reasons = new Map<string, number[]>();
  for (const { number, reason, points } of stopped) {
    // each waited at a rung of its own
    const why = reason.replace(/ at \d+ values\.$/, '.') || String(points);
    reasons.set(why, [...(reasons.get(why) ?? []), number]);
  }
  const lines = [...reasons].slice(0, MOST_REASONS).map(([why, numbers]) => {
    const named = numbers.sort((a, b) => a - b).slice(0, MOST_NAMED);
    const more = numbers.length - named.length;
    return h(
      'li',
      {},
      `${format(numbers.length, 'count')}: `,
      ...bounded(why),
      ` (${t('trials %1', named.join(', '))}${more > 0 ? ', …' : ''})`
    );
  });
  return lines.length === 0
    ? []
    : [
        h('p', { class: 'smtc-chart-label' }, t('Stopped, and why')),
        h('ul', { class: 'smtc-tuning-reasons' }, ...lines)
      ];
}
