import type {
  IComparisonInfo,
  IScaledCurve,
  IScaledPoint,
  IScalingInfo
} from '@smtc-lab/protocol';
import { paletteColor } from '../charts/theme.js';
import { format } from '../charts/units.js';
import { h, newId } from '../dom.js';
import { t } from '../i18n.js';
import { drawn, type IPart } from '../monitor/part.js';
import { isOfOneLaunch, overLaunches } from '../monitor/words.js';
import { letterOf, setUpMark } from '../picture/set_up_mark.js';
import { s } from '../plan/svg.js';
import { scalingOf } from './read.js';

const HEIGHT = 200;
const TOP = 8;
const BOTTOM = 24;
const LEFT = 8; // percent, so that it fits any width without being drawn again
const RIGHT = 92;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const RING = 13;
const MARK = 14;

/**
 * Efficiency over devices: intervals, the ideal line and the knee.
 */
export function efficiencyChart(): IPart<IComparisonInfo> {
  const titleId = newId();
  const element = h('figure', {
    class: 'smtc-chart smtc-scaling-chart',
    'aria-labelledby': titleId
  });
  return drawn(element, info => {
    const scaling = scalingOf(info);
    element.hidden = scaling === null;
    return scaling === null
      ? []
      : [
          h(
            'div',
            { class: 'smtc-chart-head' },
            h('figcaption', { id: titleId }, titleOf(scaling))
          ),
          h(
            'p',
            { class: 'smtc-chart-label' },
            t(
              'share of the added devices that came out as speed; dashed: ideal'
            ),
            scaling.curves.some(({ knee }) => knee !== null)
              ? t('; ring: pays up to here')
              : ''
          ),
          plot(scaling)
        ];
  });
}

function titleOf({ mode }: IScalingInfo): string {
  return mode === 'weak'
    ? t('Weak efficiency: each device keeps its batch')
    : t('Strong efficiency: the step keeps its batch');
}

/**
 * Places of values: down in pixels, to the right in percent.
 */
interface IScales {
  readonly x: (devices: number) => number;
  readonly y: (efficiency: number) => number;
}

function plot(scaling: IScalingInfo): HTMLElement {
  const points = scaling.curves.flatMap(curve => curve.points);
  const counts = [...new Set(points.map(({ devices }) => devices))].sort(
    (a, b) => a - b
  );
  const [least = 1] = counts;
  const doublings = Math.log2((counts.at(-1) ?? least) / least) || 1;
  const most = Math.min(
    2,
    Math.max(1.1, ...points.map(({ efficiency }) => efficiency?.high ?? 0))
  );
  const scales: IScales = {
    x: devices =>
      LEFT + ((RIGHT - LEFT) * Math.log2(devices / least)) / doublings,
    y: efficiency =>
      TOP +
      (HEIGHT - TOP - BOTTOM) *
        (1 - Math.min(most, Math.max(0, efficiency)) / most)
  };
  const drawing = s(
    'svg',
    {
      class: 'smtc-scaling-plot',
      height: HEIGHT,
      role: 'img',
      'aria-label': words(scaling)
    },
    ...frame(counts, scales),
    ...scaling.curves.flatMap(curve => curveOf(curve, scales))
  );
  return h('div', { class: 'smtc-scaling-row' }, axis(scales), drawing);
}

function axis({ y }: IScales): SVGSVGElement {
  return s(
    'svg',
    { class: 'smtc-scaling-axis', height: HEIGHT, 'aria-hidden': 'true' },
    ...TICKS.map(tick =>
      s(
        'text',
        { x: '100%', y: y(tick) + 4, 'text-anchor': 'end' },
        format(tick, 'fraction')
      )
    )
  );
}

function frame(
  counts: readonly number[],
  { x, y }: IScales
): readonly SVGElement[] {
  const line = (name: string, at: number): SVGElement =>
    s('line', { class: name, x1: 0, x2: '100%', y1: at, y2: at });
  return [
    ...TICKS.map(tick =>
      line(tick === 1 ? 'smtc-scaling-ideal' : 'smtc-scaling-grid', y(tick))
    ),
    ...counts.map(count =>
      s(
        'text',
        { x: percent(x(count)), y: HEIGHT - 6, 'text-anchor': 'middle' },
        count === 1 ? t('1 device') : format(count, 'count')
      )
    )
  ];
}

function curveOf(
  { points, knee, name }: IScaledCurve,
  { x, y }: IScales
): readonly SVGElement[] {
  const at = ({ devices }: IScaledPoint): string => percent(x(devices));
  const lines = points.slice(1).map((point, place) => {
    const before = points[place] ?? point;
    return s('line', {
      class: 'smtc-scaling-curve',
      x1: at(before),
      y1: y(mean(before)),
      x2: at(point),
      y2: y(mean(point))
    });
  });
  const marks = points.flatMap(point => {
    const { efficiency, setUp, devices } = point;
    const top = y(mean(point));
    const own = setUpMark(setUp);
    own.setAttribute('x', at(point));
    own.setAttribute('y', String(top - MARK / 2));
    own.style.transform = `translate(${-MARK / 2}px)`;
    const interval =
      efficiency === null || isOfOneLaunch(efficiency)
        ? []
        : [
            s('line', {
              class: 'smtc-scaling-interval',
              style: `stroke: ${paletteColor(setUp)}`,
              x1: at(point),
              x2: at(point),
              y1: y(efficiency.low),
              y2: y(efficiency.high)
            })
          ];
    const ring =
      devices === knee
        ? [
            s('circle', {
              class: 'smtc-scaling-knee',
              cx: at(point),
              cy: top,
              r: RING
            })
          ]
        : [];
    return [
      ...interval,
      ...ring,
      own,
      s(
        'text',
        {
          class: 'smtc-scaling-letter',
          x: at(point),
          y: top + RING + 12,
          'text-anchor': 'middle'
        },
        letterOf(setUp)
      )
    ];
  });
  return [s('g', { 'data-curve': name }, ...lines, ...marks)];
}

/**
 * Say what the drawing shows.
 */
function words({ curves }: IScalingInfo): string {
  return curves
    .map(({ name, points, knee }) =>
      [
        name,
        ...points.map(({ devices, efficiency }) =>
          efficiency === null
            ? t('%1: ideal by definition', format(devices, 'count'))
            : `${format(devices, 'count')}: ${overLaunches(efficiency, 'fraction')}`
        ),
        knee === null ? '' : t('pays up to %1', format(knee, 'count'))
      ]
        .filter(part => part !== '')
        .join(', ')
    )
    .join('; ');
}

function mean({ efficiency }: IScaledPoint): number {
  return efficiency?.mean ?? 1;
}

function percent(value: number): string {
  return `${value.toFixed(2)}%`;
}
