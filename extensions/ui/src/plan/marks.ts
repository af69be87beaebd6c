import type { IPointInfo, IMeasuredInfo } from '@smtc-lab/protocol';
import { paletteColor } from '../charts/theme.js';
import { mark, t } from '../i18n.js';
import { FRAME_LEFT, type IPlace } from './geometry.js';
import { wrapped } from '../share/fit.js';
import { s } from './svg.js';
import {
  bottleneckWords,
  errorWords,
  estimateWords,
  namesOf,
  pointWords,
  STAGE_COLORS
} from './words.js';

const LETTER_PIXELS = 7;
const BESIDE = 8;
const LINE = 13;
const RADIUS = 6;
const SMALL = 4;

const UNCERTAIN: readonly string[] = [mark('extrapolated'), mark('estimated')];

/**
 * Draw a cluster: its colour is what limits it, a square has data instances, hollow is
 * predicted, dashed is extrapolated or estimated; the bands are its 80 % intervals.
 *
 * @param isPlain - All are grey rings, since hue and shape are of set-ups on this chart.
 */
export function pointMark(
  point: IPointInfo,
  place: IPlace,
  isChosen: boolean,
  isPlain = false
): SVGGElement {
  const standsOut = point.isPareto || point.names.length > 0;
  const name = t(
    '%1: %2 a step, limited by %3, %4',
    pointWords(point),
    estimateWords(point.stepTimeS, 's'),
    bottleneckWords(point),
    t(point.evidence)
  );
  const classes = [
    'smtc-plan-point',
    standsOut ? '' : 'smtc-plan-faint',
    isChosen ? 'smtc-plan-chosen' : '',
    UNCERTAIN.includes(point.evidence) ? 'smtc-plan-extrapolated' : ''
  ];
  return s(
    'g',
    {
      class: classes.filter(Boolean).join(' '),
      style: isPlain
        ? 'color: var(--smtc-muted)'
        : `color: ${paletteColor(STAGE_COLORS[point.bottleneck])}`,
      role: 'button',
      'aria-label': name,
      'aria-pressed': String(isChosen)
    },
    ...(standsOut && !isPlain ? bands(place) : []),
    shape(place, point.isHeterogeneous && !isPlain, standsOut ? RADIUS : SMALL),
    ...label(namesOf(point), place, -12)
  );
}

/**
 * Draw a run: solid, with its interval as a cross, and the error of its prediction, which is
 * hollow and joined to it.
 */
export function runMark(
  run: IMeasuredInfo,
  place: IPlace,
  predicted: IPlace
): SVGGElement {
  const { x, y } = place;
  return s(
    'g',
    { class: 'smtc-plan-run' },
    s('line', {
      class: 'smtc-plan-gap',
      x1: predicted.x.value,
      y1: predicted.y.value,
      x2: x.value,
      y2: y.value
    }),
    s('line', { x1: x.low, x2: x.high, y1: y.value, y2: y.value }),
    s('line', { x1: x.value, x2: x.value, y1: y.low, y2: y.high }),
    s(
      'g',
      { class: 'smtc-plan-hollow' },
      shape(predicted, run.isHeterogeneous, SMALL)
    ),
    shape(place, run.isHeterogeneous, SMALL),
    ...label(`${t(run.evidence)}: ${errorWords(run)}`, place, 20)
  );
}

/**
 * Draw the intervals of what is at a place.
 */
export function bands({ x, y }: IPlace): readonly SVGElement[] {
  return [
    s('line', {
      class: 'smtc-plan-band',
      x1: x.low,
      x2: x.high,
      y1: y.value,
      y2: y.value
    }),
    s('line', {
      class: 'smtc-plan-band',
      x1: x.value,
      x2: x.value,
      y1: y.low,
      y2: y.high
    })
  ];
}

function shape(
  { x, y }: IPlace,
  isSquare: boolean,
  radius: number
): SVGElement {
  return isSquare
    ? s('rect', {
        class: 'smtc-plan-shape',
        x: x.value - radius,
        y: y.value - radius,
        width: 2 * radius,
        height: 2 * radius
      })
    : s('circle', {
        class: 'smtc-plan-shape',
        cx: x.value,
        cy: y.value,
        r: radius
      });
}

function label(
  text: string,
  { x, y, room }: IPlace,
  below: number
): readonly SVGElement[] {
  if (text === '') {
    return [];
  }
  // beside the point: on its left where the right edge would cut it off, and in several lines
  // where either edge would
  const [left, right] = [x.value - FRAME_LEFT - BESIDE, room - BESIDE];
  const isLeft = right < width(text) && (left >= width(text) || left > right);
  const longest = Math.max(...text.split(' ').map(width));
  const lines = wrapped(
    text,
    Math.max(longest, isLeft ? left : right),
    text.length,
    width
  );
  const at = {
    x: x.value + (isLeft ? -BESIDE : BESIDE),
    'text-anchor': isLeft ? 'end' : 'start'
  };
  return lines.map((line, place) =>
    s(
      'text',
      { ...at, y: y.value + below + LINE * (place + 1 - lines.length) },
      line
    )
  );
}

function width(text: string): number {
  return LETTER_PIXELS * text.length;
}
