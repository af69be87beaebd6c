import type { ISearchedInfo, ITuningInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { s } from '../plan/svg.js';
import { between } from './parallel.js';
import { axisOf, bar, Figure, plot, type IAxis } from './plot.js';
import {
  axisName,
  colorOf,
  judged,
  valueWords,
  type IJudged
} from './words.js';

const LEAST_WIDTH = 210;
const HEIGHT = 170;
const MOST_TICKS = 4;

/**
 * The objective over each hyperparameter, and how much each matters.
 */
export function slices(info: () => ITuningInfo | null): Figure {
  return new Figure(t('Each hyperparameter by itself'), width => {
    const told = info();
    const trials = told === null ? [] : judged(told);
    if (told === null || trials.length === 0) {
      return [];
    }
    const columns = Math.max(1, Math.floor(width / LEAST_WIDTH));
    const wide = Math.floor(width / columns) - 4;
    const { searched } = told;
    const shown = searched
      .map((each, place) => [each, place] as const)
      .sort(([a], [b]) => (b.importance ?? 0) - (a.importance ?? 0));
    const isKnown = searched.some(({ importance }) => importance !== null);
    return [
      ...(isKnown ? [importanceBars(shown.map(([each]) => each))] : []),
      h(
        'div',
        { class: 'smtc-tuning-slices' },
        ...shown.map(([each, place]) => slice(told, trials, each, place, wide))
      )
    ];
  });
}

function slice(
  told: ITuningInfo,
  trials: readonly IJudged[],
  each: ISearchedInfo,
  place: number,
  width: number
): SVGElement {
  const y = axisOf(
    told.objective,
    trials.map(one => one.objective)
  );
  const [best] = trials;
  const words = t(
    '%1 over %2 of %3 trials; the best one has %4.',
    told.objective,
    each.name,
    trials.length,
    valueWords(each, best?.values[place] ?? null)
  );
  return plot([across(each), y], [width, HEIGHT], words, pixels =>
    trials
      .flatMap((trial, number) => {
        const value = trial.values[place] ?? null;
        return value === null
          ? []
          : [
              s(
                'circle',
                {
                  class: number === 0 ? 'smtc-tuning-best' : 'smtc-tuning-dot',
                  cx: pixels.x(value),
                  cy: pixels.y(trial.objective),
                  r: number === 0 ? 5.5 : 3.5,
                  style: `fill: ${colorOf(number, trials.length)}`
                },
                s(
                  'title',
                  {},
                  `${t('Trial %1', trial.number)}: ${valueWords(each, value)}, ${format(trial.objective, 'number')}`
                )
              )
            ];
      })
      .reverse()
  );
}

function across(each: ISearchedInfo): IAxis {
  const { low, high, isLog, choices } = each;
  const inner = between(each);
  const on = (share: number): number =>
    isLog ? low * (high / low) ** share : low + (high - low) * share;
  const ticks =
    choices.length > 0
      ? choices.map((_, number) => number)
      : [0, 0.5, 1].map(on);
  const step = Math.ceil(ticks.length / MOST_TICKS);
  return {
    label: axisName(each),
    unit: 'number',
    scale: {
      from: low,
      to: high,
      place: value => 0.06 + 0.88 * inner(value),
      ticks: ticks.filter((_, number) => number % step === 0)
    },
    words: tick => valueWords(each, tick)
  };
}

function importanceBars(searched: readonly ISearchedInfo[]): HTMLElement {
  return h(
    'div',
    { class: 'smtc-tuning-importance' },
    h(
      'p',
      { class: 'smtc-chart-label' },
      t('share of the order of the trials that each tells by itself'),
      ' ',
      h('span', { class: 'smtc-badge' }, t('estimated'))
    ),
    ...searched.map(({ name, importance }) =>
      bar(
        importance ?? 0,
        h('span', { class: 'smtc-tuning-name' }, name),
        h(
          'span',
          { class: 'smtc-number' },
          format(importance ?? NaN, 'fraction')
        )
      )
    )
  );
}
