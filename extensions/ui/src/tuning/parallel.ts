import type { ITuningInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IScale } from '../plan/scale.js';
import { s } from '../plan/svg.js';
import { linearOrLog } from '../run_comparison/scale.js';
import { Figure, line } from './plot.js';
import {
  colorOf,
  judged,
  trialWords,
  valueWords,
  type IJudged
} from './words.js';

const HEIGHT = 260;
const TOP = 34;
const BOTTOM = 24;
const SIDE = 48;
const LEAST_GAP = 84;
const LONGEST = 14;

/**
 * An axis that stands upright, with its ends in words.
 */
interface IUpright {
  readonly name: string;
  readonly place: (value: number) => number;
  readonly of: (trial: IJudged) => number | null;
  readonly low: string;
  readonly high: string;
}

/**
 * Return where a value lies between two ends, 0 to 1.
 */
export function between(
  low: number,
  high: number,
  isLog: boolean
): (value: number) => number {
  const on = isLog ? Math.log : (value: number) => value;
  const width = on(high) - on(low);
  return value =>
    width === 0 ? 0.5 : Math.min(1, Math.max(0, (on(value) - on(low)) / width));
}

/**
 * Each trial as a line through its hyperparameters and its objective.
 */
export function parallel(info: () => ITuningInfo | null): Figure {
  return new Figure(t('All hyperparameters together'), width => {
    const told = info();
    const trials = told === null ? [] : judged(told);
    if (told === null || trials.length === 0) {
      return [];
    }
    const axes = axesOf(told, trials);
    const whole = Math.max(width, 2 * SIDE + LEAST_GAP * (axes.length - 1));
    const gap = (whole - 2 * SIDE) / (axes.length - 1);
    const down = (share: number): number =>
      HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share;
    const [best] = trials;
    const lines = trials.map((trial, place) =>
      line(
        axes.flatMap((axis, number) => {
          const value = axis.of(trial);
          return value === null
            ? []
            : [[SIDE + gap * number, down(axis.place(value))] as const];
        }),
        {
          style: `stroke: ${colorOf(place, trials.length)}${place === 0 ? '; stroke-width: 3' : ''}`
        }
      )
    );
    const drawing = s(
      'svg',
      {
        width: whole,
        height: HEIGHT,
        role: 'img',
        'aria-label': t(
          '%1 trials through %2 hyperparameters; the best one is %3.',
          trials.length,
          told.searched.length,
          best === undefined ? '' : trialWords(told, best)
        )
      },
      // the best one lies above all others
      ...lines.reverse(),
      ...axes.flatMap((axis, number) => upright(axis, SIDE + gap * number))
    );
    return [
      h(
        'p',
        { class: 'smtc-chart-label' },
        t(
          'the stronger a line, the better its objective; thick: the best trial'
        )
      ),
      h(
        'div',
        {
          class: 'smtc-scroll',
          tabindex: 0,
          role: 'region',
          'aria-label': t('All hyperparameters together')
        },
        drawing
      )
    ];
  });
}

function upright(
  { name, low, high }: IUpright,
  x: number
): readonly SVGElement[] {
  const text = (words: string, y: number, look: string): SVGElement =>
    s(
      'text',
      { x, y, 'text-anchor': 'middle', class: look },
      words.length > LONGEST ? `${words.slice(0, LONGEST - 1)}…` : words,
      s('title', {}, words)
    );
  return [
    s('line', {
      class: 'smtc-tuning-axis',
      x1: x,
      x2: x,
      y1: TOP,
      y2: HEIGHT - BOTTOM
    }),
    text(name, 12, 'smtc-tuning-name'),
    text(high, TOP - 6, ''),
    text(low, HEIGHT - 8, '')
  ];
}

function axesOf(
  { searched, objective }: ITuningInfo,
  trials: readonly IJudged[]
): readonly IUpright[] {
  const values = trials.map(one => one.objective);
  const scale: IScale = linearOrLog(values);
  return [
    ...searched.map(
      (each, number): IUpright => ({
        name: each.name,
        place: between(each.low, each.high, each.isLog),
        of: trial => trial.values[number] ?? null,
        low: valueWords(each, each.low),
        high: valueWords(each, each.high)
      })
    ),
    {
      name: objective,
      place: value => scale.place(value),
      of: trial => trial.objective,
      low: format(scale.from, 'number'),
      high: format(scale.to, 'number')
    }
  ];
}
