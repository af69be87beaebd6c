import type { ITuningInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import { s } from '../plan/svg.js';
import { axisOf, Figure, line, plot } from './plot.js';

const HEIGHT = 230;
const COLOR = 'var(--smtc-accent)';

/**
 * The best objective so far, over the trials that have ended or over what they cost.
 */
export function best(info: () => ITuningInfo | null): Figure {
  let wantsUsd = false;
  const buttons = [t('Trials'), t('Dollars')].map((words, place) =>
    button(words, () => {
      wantsUsd = place === 1;
      figure.show();
    })
  );
  const label = { role: 'group', 'aria-label': t('Best objective over') };
  const toggle = h('div', { class: 'smtc-row', ...label }, ...buttons);
  const draw = (width: number): readonly Node[] => {
    const told = info();
    const last = told?.soFar.at(-1);
    if (told === null || last === undefined) {
      return [];
    }
    const isPriced = told.soFar.every(({ usd }) => usd !== null);
    const isUsd = wantsUsd && isPriced;
    toggle.hidden = !isPriced;
    buttons.forEach((each, place) => {
      each.ariaPressed = String(isUsd === (place === 1));
    });
    const unpriced = t('A price is unknown, so dollars are not drawn.');
    return [
      drawn(told, isUsd, last.trials, width),
      ...(isPriced ? [] : [h('p', { class: 'smtc-note' }, unpriced)])
    ];
  };
  const figure = new Figure(t('Best so far'), draw, toggle);
  return figure;
}

function drawn(
  { soFar, objective, budgetUsd }: ITuningInfo,
  isUsd: boolean,
  ended: number,
  width: number
): SVGElement {
  const points = soFar.map(
    one =>
      [isUsd ? (one.usd ?? 0) : one.trials, one.objective, one.trial] as const
  );
  const budget = isUsd && budgetUsd !== null ? [budgetUsd] : [];
  const axes = [
    axisOf(
      isUsd ? t('USD spent') : t('trials that have ended'),
      [0, ...budget, ...points.map(([at]) => at)],
      isUsd ? 'USD' : 'count'
    ),
    axisOf(
      objective,
      points.map(([, value]) => value)
    )
  ] as const;
  const [, value = 0, trial = 0] = points.at(-1) ?? [];
  const words = t(
    'Best %1 so far: %2 by trial %3, after %4 trials.',
    ...[objective, format(value, 'number'), trial, ended]
  );
  return plot(axes, [width, HEIGHT], words, ({ x, y, frame }) => [
    ...budget.map(usd =>
      s('line', {
        class: 'smtc-tuning-budget-line',
        ...{ x1: x(usd), x2: x(usd), y1: frame.top, y2: frame.bottom }
      })
    ),
    line(
      points.flatMap(([at, value], place) => [
        [x(at), y(points[place - 1]?.[1] ?? value)] as const,
        [x(at), y(value)] as const
      ]),
      { style: `stroke: ${COLOR}; stroke-width: 2` }
    ),
    ...points.map(([at, value, number]) =>
      s(
        'circle',
        {
          ...{ class: 'smtc-tuning-dot', cx: x(at), cy: y(value), r: 3.5 },
          style: `fill: ${COLOR}`
        },
        s('title', {}, `${t('Trial %1', number)}: ${format(value, 'number')}`)
      )
    )
  ]);
}
