import { format, formatMean, isWide } from '../charts/units.js';
import { paletteColor } from '../charts/theme.js';
import type { Unit } from '../charts/options.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { s } from '../plan/svg.js';
import { clamped, round } from './draw.js';

/**
 * A value with the ends of its interval.
 */
export interface ISpan {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * A number of a set-up: as predicted, and as measured.
 */
export interface INumber {
  readonly label: string;
  readonly unit: Unit;
  readonly predicted: ISpan | null;
  readonly measured: ISpan | null;

  /**
   * What it says beside the baseline, in a few words.
   */
  readonly beside: string;
}

/**
 * Draw a number with its interval, on a scale that all set-ups share.
 *
 * @param most - End of that scale.
 * @param place - Of the set-up, for its colour.
 */
export function numberOf(
  { label, unit, predicted, measured, beside }: INumber,
  most: number,
  place: number
): HTMLElement {
  const shown = measured ?? predicted;
  const word = measured === null ? t('predicted') : t('measured');
  return h(
    'div',
    { class: 'smtc-figure' },
    h('div', { class: 'smtc-soft' }, `${label}, ${word}`),
    h(
      'div',
      { class: 'smtc-figure-value' },
      h(
        'strong',
        {},
        shown === null ? t('unknown') : formatMean(shown.value, shown, unit)
      ),
      ' ',
      h(
        'span',
        { class: 'smtc-soft' },
        shown === null ? '' : range(shown, unit, measured !== null)
      )
    ),
    strip(predicted, measured, most, place),
    h('div', { class: 'smtc-figure-beside' }, beside)
  );
}

/**
 * Return the ends of an interval, and what is to be known of a very wide one; empty: it has none.
 */
function range(span: ISpan, unit: Unit, isMeasured: boolean): string {
  const { low, high } = span;
  if (low === high) {
    return '';
  }
  const ends = `${format(low, unit)}–${format(high, unit)}`;
  const more = isMeasured ? t('more rounds tell more') : t('very uncertain');
  return isWide(span) ? `${ends}: ${more}` : ends;
}

function strip(
  predicted: ISpan | null,
  measured: ISpan | null,
  most: number,
  place: number
): SVGSVGElement {
  const x = (value: number): number => round(2 + 96 * clamped(value / most));
  const drawn = s(
    'svg',
    { class: 'smtc-strip', 'aria-hidden': 'true' },
    s('line', { x1: '2%', x2: '98%', y1: 7, y2: 7 })
  );
  drawn.style.setProperty('--smtc-own-color', paletteColor(place));
  const bar = (
    { low, high }: ISpan,
    own: Readonly<Record<string, string | number>>
  ): SVGRectElement =>
    s('rect', {
      ...own,
      x: `${x(low)}%`,
      width: `${round(x(high) - x(low))}%`
    });
  if (predicted !== null) {
    const at = `${x(predicted.value)}%`;
    drawn.append(
      bar(predicted, { class: 'smtc-hollow', y: 2.5, height: 9, rx: 3 })
    );
    if (measured === null) {
      drawn.append(
        s('line', { class: 'smtc-mean', x1: at, x2: at, y1: 2.5, y2: 11.5 })
      );
    }
  }
  if (measured !== null) {
    drawn.append(
      bar(measured, { class: 'smtc-solid', y: 5, height: 4 }),
      s('circle', {
        class: 'smtc-solid',
        cx: `${x(measured.value)}%`,
        cy: 7,
        r: 3.5
      })
    );
  }
  return drawn;
}

/**
 * Return how fast a set-up is beside the baseline, in words.
 *
 * @param ratio - Step time of the baseline over its own.
 * @param ends - Of the ratio's interval; left out: they are not said.
 */
export function fasterText(
  ratio: number,
  ends: readonly number[] = []
): string {
  if (Math.abs(ratio - 1) < 0.03) {
    return t('as fast');
  }
  const isFaster = ratio > 1;
  const written = (each: number): string =>
    format(isFaster ? each : 1 / each, 'ratio');
  const range = ends.map(written).join('–');
  const told = `${written(ratio)}${range && ` (${range})`}`;
  return isFaster ? t('%1 faster', told) : t('%1 slower', told);
}

/**
 * Return what a step costs beside the baseline, in words.
 *
 * @param ratio - Its cost over that of the baseline.
 */
export function cheaperText(ratio: number): string {
  const share = Math.round(100 * Math.abs(1 - ratio));
  if (share < 3) {
    return t('at the same cost');
  }
  return ratio < 1 ? t('%1 % cheaper', share) : t('%1 % dearer', share);
}
