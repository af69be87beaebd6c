import type { ISearchedInfo, ITuningInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { s } from '../plan/svg.js';
import { Figure, line } from './plot.js';
import { colorOf, judged, trialWords, valueWords } from './words.js';

const HEIGHT = 260;
const TOP = 34;
const BOTTOM = 24;
const SIDE = 48;
const LEAST_GAP = 84;
const LONGEST = 14;

type Ends = Pick<ISearchedInfo, 'choices' | 'high' | 'isLog' | 'low' | 'name'>;

/**
 * Return where a value lies between two ends, 0 to 1.
 */
export function between({ low, high, isLog }: Ends): (value: number) => number {
  const on = isLog ? Math.log : (value: number) => value;
  const width = on(high) - on(low);
  return value =>
    width === 0 ? 0.5 : Math.min(1, Math.max(0, (on(value) - on(low)) / width));
}

/**
 * Each trial as a line through its hyperparameters and its objective.
 */
export function parallel(info: () => ITuningInfo | null): Figure {
  const title = t('All hyperparameters together');
  return new Figure(title, width => {
    const told = info();
    const trials = told === null ? [] : judged(told);
    const [best] = trials;
    if (told === null || best === undefined) {
      return [];
    }
    const found = trials.map(one => one.objective);
    const axes: readonly Ends[] = [
      ...told.searched,
      {
        ...{ name: told.objective, isLog: false, choices: [] },
        ...{ low: Math.min(...found), high: Math.max(...found) }
      }
    ];
    const whole = Math.max(width, 2 * SIDE + LEAST_GAP * (axes.length - 1));
    const gap = (whole - 2 * SIDE) / (axes.length - 1);
    const lines = trials.map((trial, place) =>
      line(
        axes.flatMap((axis, number) => {
          const value = [...trial.values, trial.objective][number] ?? null;
          const up = (HEIGHT - TOP - BOTTOM) * between(axis)(value ?? 0);
          return value === null
            ? []
            : [[SIDE + gap * number, HEIGHT - BOTTOM - up] as const];
        }),
        {
          style: `stroke: ${colorOf(place, trials.length)}; stroke-width: ${place === 0 ? 3 : 1.5}`
        }
      )
    );
    const words = t(
      '%1 trials through %2 hyperparameters; the best one is %3.',
      trials.length,
      told.searched.length,
      trialWords(told, best)
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
          'aria-label': title
        },
        s(
          'svg',
          { width: whole, height: HEIGHT, role: 'img', 'aria-label': words },
          // the best one lies above all others
          ...lines.reverse(),
          ...axes.flatMap((axis, number) => upright(axis, SIDE + gap * number))
        )
      )
    ];
  });
}

function upright(axis: Ends, x: number): readonly SVGElement[] {
  const text = (words: string, y: number, look = ''): SVGElement =>
    s(
      'text',
      { x, y, 'text-anchor': 'middle', class: look },
      words.length > LONGEST ? `${words.slice(0, LONGEST - 1)}…` : words,
      s('title', {}, words)
    );
  const ends = { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM };
  return [
    s('line', { class: 'smtc-tuning-axis', ...ends }),
    text(axis.name, 12, 'smtc-tuning-name'),
    text(valueWords(axis, axis.high), TOP - 6),
    text(valueWords(axis, axis.low), HEIGHT - 8)
  ];
}
