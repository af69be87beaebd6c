import { format } from '../../charts/units.js';
import { h } from '../../dom.js';
import { t } from '../../i18n.js';
import { letterOf, setUpMark } from '../../picture/set_up_mark.js';
import { s } from '../../plan/svg.js';
import { barWords, causesOf, waitingWords, type IBar } from './bars.js';
import { CAUSES, INSTANCES, type ICause, type Instances } from './causes.js';

const HEIGHT = 18;
const SAMPLE = { width: 18, height: 12 };
const PARTS = ['dev', 'cpu', 'net', 'all'] as const;

/**
 * Return a line for each bar, all on one scale.
 *
 * @param id - What the ids of `hatchings` begin with.
 */
export function drawBars(
  bars: readonly IBar[],
  id: string
): readonly HTMLElement[] {
  const most = Math.max(...bars.map(({ usd }) => usd));
  return bars.map(bar => {
    const percent = (usd: number): string =>
      `${Number(((100 * usd) / (most || 1)).toFixed(3))}%`;
    let left = 0;
    const boxes = bar.parts.map(({ cause, usd }) => {
      const box = { x: percent(left), width: percent(usd), y: 0 };
      left += usd;
      return s(
        'rect',
        { ...box, height: HEIGHT, ...lookOf(CAUSES[cause], id) },
        s('title', {}, `${t(CAUSES[cause].words)} ${format(usd, 'USD')}`)
      );
    });
    return h(
      'div',
      { class: 'smtc-money-row' },
      h(
        'span',
        { class: 'smtc-money-name', title: bar.label },
        setUpMark(bar.place),
        ` ${letterOf(bar.place)}`
      ),
      s(
        'svg',
        {
          class: 'smtc-money-bar',
          height: HEIGHT,
          role: 'img',
          'aria-label': barWords(bar)
        },
        ...boxes
      ),
      h('strong', {}, bar.parts.length > 0 ? format(bar.usd, 'USD') : ''),
      h('p', { class: 'smtc-soft' }, waitingWords(bar))
    );
  });
}

/**
 * Name the parts that some bars have, by who is paid for.
 */
export function drawKey(
  bars: readonly IBar[],
  id: string
): readonly HTMLElement[] {
  const causes = causesOf(bars).map(cause => CAUSES[cause]);
  return (Object.keys(INSTANCES) as Instances[])
    .map(of => ({ of, own: causes.filter(each => each.of === of) }))
    .filter(({ own }) => own.length > 0)
    .map(({ of, own }) =>
      h(
        'p',
        { class: 'smtc-money-key' },
        h('span', { class: 'smtc-soft' }, t(INSTANCES[of])),
        ...own.map(each =>
          h(
            'span',
            {},
            s(
              'svg',
              { ...SAMPLE, 'aria-hidden': 'true' },
              s('rect', { ...SAMPLE, ...lookOf(each, id) })
            ),
            ` ${t(each.words)}`
          )
        )
      )
    );
}

/**
 * Return the patterns of what is paid while it waits; each part of a cluster has its colour.
 */
export function hatchings(id: string): SVGSVGElement {
  const pattern = (filling: string, part: string): SVGElement =>
    s(
      'pattern',
      {
        id: `${id}-${filling}-${part}`,
        width: filling === 'hatched' ? 5 : 8,
        height: 5,
        patternUnits: 'userSpaceOnUse',
        patternTransform: `rotate(${filling === 'hatched' ? 45 : -45})`
      },
      s('rect', { class: 'smtc-money-paper', width: 8, height: 5 }),
      s('rect', { class: `smtc-money-${part}`, width: 2, height: 5 })
    );
  return s(
    'svg',
    { class: 'smtc-money-patterns', 'aria-hidden': 'true' },
    s(
      'defs',
      {},
      ...PARTS.flatMap(part => [
        pattern('hatched', part),
        pattern('crossed', part)
      ])
    )
  );
}

/**
 * Return how a part of a bar is filled; `hatchings` has the patterns.
 */
export function lookOf(
  { part, filling }: Pick<ICause, 'part' | 'filling'>,
  id: string
): Readonly<Record<string, string>> {
  const isPattern = filling === 'hatched' || filling === 'crossed';
  return {
    class: `smtc-money-${part} smtc-money-${filling}`,
    ...(isPattern ? { style: `fill: url(#${id}-${filling}-${part})` } : {})
  };
}
