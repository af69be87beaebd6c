import type {
  IComparisonInfo,
  IInterval,
  ILostInfo,
  IScaledPoint
} from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h, newId } from '../dom.js';
import { mark, t } from '../i18n.js';
import { drawn, type IPart } from '../monitor/part.js';
import { overLaunches } from '../monitor/words.js';
import { letterOf, setUpMark } from '../picture/set_up_mark.js';
import { s } from '../plan/svg.js';
import { scalingOf } from './read.js';
import type { Filling, Part } from '../study/money/causes.js';
import { hatchings, lookOf } from '../study/money/drawing.js';

const HEIGHT = 18;
const SAMPLE = { width: 18, height: 12 };

/**
 * What a step loses time to: the colour of the part that waits, hatched while it does.
 */
interface ILost {
  readonly words: string;
  readonly part: Part;
  readonly filling: Filling;
}

const LOST: Readonly<Record<ILostInfo['cause'], ILost>> = {
  data_wait: { words: mark('wait for data'), part: 'cpu', filling: 'hatched' },
  stragglers: {
    words: mark('wait for the slowest rank'),
    part: 'dev',
    filling: 'hatched'
  },
  communication: {
    words: mark('exposed communication'),
    part: 'net',
    filling: 'hatched'
  },
  compute: { words: mark('slower computing'), part: 'dev', filling: 'full' },
  other: {
    words: mark('communication and all else, not told apart'),
    part: 'all',
    filling: 'crossed'
  }
};
const REST = mark('all else');
const IDEAL = { part: 'all', filling: 'open' } as const;

/**
 * A bar for each number of devices: the ideal step, and what is lost beyond it to what. Below it
 * what samples cost there.
 */
export function lostBars(): IPart<IComparisonInfo> {
  const [titleId, id] = [newId(), newId()];
  const element = h('figure', {
    class: 'smtc-chart smtc-money smtc-scaling-lost',
    'aria-labelledby': titleId
  });
  return drawn(element, info => {
    const scaling = scalingOf(info);
    const points = scaling?.curves.flatMap(curve => curve.points) ?? [];
    element.hidden = points.length === 0;
    const most = Math.max(...points.map(({ stepTimeS }) => stepTimeS));
    const hasExchange = points.some(({ lost }) =>
      lost.some(({ cause }) => cause === 'communication')
    );
    return points.length === 0
      ? []
      : [
          h(
            'div',
            { class: 'smtc-chart-head' },
            h('figcaption', { id: titleId }, t('What a step loses to what'))
          ),
          hatchings(id),
          h(
            'div',
            { class: 'smtc-money-bars smtc-scaling-bars' },
            h(
              'p',
              { class: 'smtc-chart-label' },
              t('time of a step; outlined: the ideal one')
            ),
            ...points.map(point => rowOf(point, most, id, hasExchange)),
            key(points, id, hasExchange)
          )
        ];
  });
}

function rowOf(
  point: IScaledPoint,
  most: number,
  id: string,
  hasExchange: boolean
): HTMLElement {
  const percent = (time: number): string =>
    `${Number(((100 * time) / (most || 1)).toFixed(3))}%`;
  // what takes less than ideally shortens the ideal part, so that the whole stays the step
  const gained = sumOf(
    point.lost.map(({ sPerStep }) => Math.min(0, sPerStep.mean))
  );
  let left = Math.max(0, point.idealStepTimeS + gained);
  const boxes = [
    s(
      'rect',
      {
        x: 0,
        y: 0,
        width: percent(left),
        height: HEIGHT,
        ...lookOf(IDEAL, id)
      },
      s('title', {}, t('ideal: %1', format(point.idealStepTimeS, 's')))
    )
  ];
  for (const { cause, sPerStep } of point.lost) {
    const width = Math.max(0, sPerStep.mean);
    boxes.push(
      s(
        'rect',
        {
          x: percent(left),
          y: 0,
          width: percent(width),
          height: HEIGHT,
          ...lookOf(LOST[cause], id)
        },
        s('title', {}, lostWords(cause, sPerStep, hasExchange))
      )
    );
    left += width;
  }
  return h(
    'div',
    { class: 'smtc-money-row' },
    h(
      'span',
      { class: 'smtc-money-name' },
      setUpMark(point.setUp),
      ` ${letterOf(point.setUp)} ${format(point.devices, 'count')}`
    ),
    s(
      'svg',
      {
        class: 'smtc-money-bar',
        height: HEIGHT,
        role: 'img',
        'aria-label': words(point, hasExchange)
      },
      ...boxes
    ),
    h('strong', {}, format(point.stepTimeS, 's')),
    h('p', { class: 'smtc-soft' }, priceWords(point))
  );
}

function key(
  points: readonly IScaledPoint[],
  id: string,
  hasExchange: boolean
): HTMLElement {
  const causes = (Object.keys(LOST) as ILostInfo['cause'][]).filter(cause =>
    points.some(({ lost }) => lost.some(each => each.cause === cause))
  );
  return h(
    'p',
    { class: 'smtc-money-key' },
    ...causes.map(cause =>
      h(
        'span',
        {},
        s(
          'svg',
          { ...SAMPLE, 'aria-hidden': 'true' },
          s('rect', { ...SAMPLE, ...lookOf(LOST[cause], id) })
        ),
        ` ${causeWords(cause, hasExchange)}`
      )
    )
  );
}

function causeWords(cause: ILostInfo['cause'], hasExchange: boolean): string {
  return t(cause === 'other' && hasExchange ? REST : LOST[cause].words);
}

function lostWords(
  cause: ILostInfo['cause'],
  lost: IInterval,
  hasExchange: boolean
): string {
  return `${causeWords(cause, hasExchange)} ${overLaunches(lost, 's')}`;
}

function words(point: IScaledPoint, hasExchange: boolean): string {
  return [
    t(
      '%1 devices: %2, ideal %3',
      point.devices,
      format(point.stepTimeS, 's'),
      format(point.idealStepTimeS, 's')
    ),
    ...point.lost.map(({ cause, sPerStep }) =>
      lostWords(cause, sPerStep, hasExchange)
    )
  ].join(', ');
}

/**
 * Return what samples cost; empty: there is no price, or it is unknown, as the table says.
 */
function priceWords({
  usdPerEpoch,
  usdPerMillionSamples
}: IScaledPoint): string {
  if (usdPerEpoch !== null) {
    return t('an epoch: %1', overLaunches(usdPerEpoch, 'USD'));
  }
  return usdPerMillionSamples === null
    ? ''
    : t('a million samples: %1', overLaunches(usdPerMillionSamples, 'USD'));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
