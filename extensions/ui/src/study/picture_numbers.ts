import type { IComparisonInfo, IInterval } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import type { Unit } from '../charts/options.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { numberOf, type ISpan } from '../picture/numbers.js';

/**
 * Return the numbers below the pictures of all set-ups, by their places: measured over predicted,
 * on scales that all of them share. None for one of which neither is known.
 */
export function pictureNumbers({
  setUps,
  stepsCost
}: IComparisonInfo): readonly (HTMLElement | null)[] {
  const times = setUps.map(setUp => ({
    predicted: spanOf(setUp.foretold?.stepTimeS),
    measured: spanOf(setUp.stepTimeIntervalS) ?? pointOf(setUp.stepTimeS)
  }));
  const costs = setUps.map((setUp, place) => ({
    predicted: spanOf(setUp.foretold?.usdPer1000Steps),
    measured: costOf(stepsCost, place)
  }));
  const [mostTime, mostCost] = [mostOf(times), mostOf(costs)];
  return setUps.map((_, place) => {
    const told = [
      numberIn(t('step time'), 's', times[place], mostTime, place),
      numberIn(t('1,000 steps'), 'USD', costs[place], mostCost, place)
    ].filter(each => each !== null);
    return told.length === 0
      ? null
      : h('div', { class: 'smtc-figures' }, ...told);
  });
}

interface IPair {
  readonly predicted: ISpan | null;
  readonly measured: ISpan | null;
}

function numberIn(
  label: string,
  unit: Unit,
  pair: IPair | undefined,
  most: number,
  place: number
): HTMLElement | null {
  if (pair === undefined || (pair.predicted ?? pair.measured) === null) {
    return null;
  }
  return numberOf(
    { label, unit, ...pair, beside: besideText(pair, unit) },
    most,
    place
  );
}

/**
 * Return what was predicted, beside what was measured since; empty: it is one of both alone.
 */
function besideText({ predicted, measured }: IPair, unit: Unit): string {
  if (predicted === null || measured === null) {
    return '';
  }
  const { low, high } = predicted;
  const ends = `${format(low, unit)}–${format(high, unit)}`;
  return measured.value >= low && measured.value <= high
    ? t('as predicted: %1', ends)
    : t('predicted: %1', ends);
}

function spanOf(interval: IInterval | null | undefined): ISpan | null {
  return interval == null
    ? null
    : { value: interval.mean, low: interval.low, high: interval.high };
}

/**
 * Return what 1,000 steps of a set-up cost, which is told in parts.
 */
function costOf(
  parts: IComparisonInfo['stepsCost'],
  place: number
): ISpan | null {
  const own = parts.filter(({ setUp }) => setUp === place);
  const value = own.reduce((sum, part) => sum + part.usdPer1000Steps, 0);
  return own.length === 0 ? null : pointOf(value);
}

function pointOf(value: number | null): ISpan | null {
  return value === null ? null : { value, low: value, high: value };
}

function mostOf(pairs: readonly IPair[]): number {
  return Math.max(
    Number.MIN_VALUE,
    ...pairs.flatMap(({ predicted, measured }) => [
      predicted?.high ?? 0,
      measured?.high ?? 0
    ])
  );
}
