import type { ITuningInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { s } from '../plan/svg.js';
import { axisOf, choice, Figure, line, plot } from './plot.js';

const HEIGHT = 230;

/**
 * The best objective so far, over the trials that have ended or over what they cost.
 */
export class BestChart {
  constructor() {
    const toggle = choice(
      t('Best objective over'),
      [
        ['trials', t('Trials')],
        ['usd', t('Dollars')]
      ],
      chosen => {
        this._isUsd = chosen === 'usd';
        this._figure.show();
      }
    );
    this._toggle = toggle;
    this._figure = new Figure(
      t('Best so far'),
      width => this._draw(width),
      toggle
    );
    this.element = this._figure.element;
  }

  readonly element: HTMLElement;

  update(info: ITuningInfo): void {
    this._info = info;
    this._figure.show();
  }

  dispose(): void {
    this._figure.dispose();
  }

  private _draw(width: number): readonly Node[] {
    const info = this._info;
    if (info === null || info.soFar.length === 0) {
      return [];
    }
    const { soFar, objective, budgetUsd } = info;
    const isPriced = soFar.every(({ usd }) => usd !== null);
    this._toggle.hidden = !isPriced;
    const isUsd = this._isUsd && isPriced;
    const points = soFar.map(
      one =>
        [isUsd ? (one.usd ?? 0) : one.trials, one.objective, one.trial] as const
    );
    const ends = isUsd && budgetUsd !== null ? [0, budgetUsd] : [0];
    const x = axisOf(
      isUsd ? t('USD spent') : t('trials that have ended'),
      [...ends, ...points.map(([at]) => at)],
      isUsd ? 'USD' : 'count'
    );
    const y = axisOf(
      objective,
      points.map(([, value]) => value)
    );
    const [, last = 0, trial = 0] = points.at(-1) ?? [];
    const words = t(
      'Best %1 so far: %2 by trial %3, after %4 trials.',
      objective,
      format(last, 'number'),
      trial,
      soFar.at(-1)?.trials ?? 0
    );
    const drawing = plot([x, y], [width, HEIGHT], words, pixels => [
      ...(isUsd && budgetUsd !== null
        ? [
            s('line', {
              class: 'smtc-tuning-budget-line',
              x1: pixels.x(budgetUsd),
              x2: pixels.x(budgetUsd),
              y1: pixels.top,
              y2: pixels.bottom
            })
          ]
        : []),
      line(
        points.flatMap(([at, value], place) => {
          const before = points[place - 1];
          const here = [pixels.x(at), pixels.y(value)] as const;
          return before === undefined
            ? [here]
            : [[pixels.x(at), pixels.y(before[1])] as const, here];
        }),
        { style: 'stroke: var(--smtc-accent); stroke-width: 2' }
      ),
      ...points.map(([at, value, number]) =>
        s(
          'circle',
          {
            class: 'smtc-tuning-dot',
            cx: pixels.x(at),
            cy: pixels.y(value),
            r: 3.5,
            style: 'fill: var(--smtc-accent)'
          },
          s('title', {}, `${t('Trial %1', number)}: ${format(value, 'number')}`)
        )
      )
    ]);
    return [
      drawing,
      ...(isPriced
        ? []
        : [
            h(
              'p',
              { class: 'smtc-note' },
              t('A price is unknown, so dollars are not drawn.')
            )
          ])
    ];
  }

  private readonly _figure: Figure;
  private readonly _toggle: HTMLElement;
  private _info: ITuningInfo | null = null;
  private _isUsd = false;
}
