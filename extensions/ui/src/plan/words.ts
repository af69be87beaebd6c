import type {
  IEstimate,
  IPointInfo,
  IMeasuredInfo,
  Stage
} from '@smtc-lab/protocol';
import { format, formatMean } from '../charts/units.js';
import type { Unit } from '../charts/options.js';
import { mark, t } from '../i18n.js';

/**
 * What a stage is called for people. The same words as in `views/plan/words.py`.
 */
export const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  cpu: mark('data CPU'),
  network: mark('network'),
  serial: mark('serial host work'),
  device: mark('device')
};

/**
 * Place of each stage in the palette, the same in every view.
 */
export const STAGE_COLORS: Readonly<Record<Stage, number>> = {
  cpu: 1,
  network: 3,
  serial: 0,
  device: 2
};

/**
 * Write an estimate with its interval: `184 ms (181 ms to 187 ms)`, or that it is unknown.
 */
export function estimateWords(estimate: IEstimate | null, unit: Unit): string {
  if (estimate === null) {
    return t('unknown');
  }
  const { value, low, high } = estimate;
  return t(
    '%1 (%2 to %3)',
    formatMean(value, estimate, unit),
    format(low, unit),
    format(high, unit)
  );
}

const NAMES: readonly string[] = [
  mark('best'),
  mark('cheapest'),
  mark('fastest'),
  mark('knee')
];

/**
 * Write what a cluster is known for; empty: for nothing.
 */
export function namesOf({ names }: IPointInfo): string {
  return names.map(name => (NAMES.includes(name) ? t(name) : name)).join(', ');
}

/**
 * Write a cluster with what it is known for.
 */
export function pointWords(point: IPointInfo): string {
  const names = namesOf(point);
  return names === '' ? point.label : `${point.label} (${names})`;
}

/**
 * Write the stage that limits a cluster.
 */
export function bottleneckWords(point: IPointInfo): string {
  const words = t(STAGE_WORDS[point.bottleneck]);
  return point.isNearTie ? t('%1, nearly a tie', words) : words;
}

/**
 * Write kind and date of the prices.
 */
export function priceWords(point: IPointInfo): string {
  const words = point.price === '' ? t('unknown') : point.price;
  return point.isPriceOld ? t('%1, old', words) : words;
}

/**
 * Write how far a prediction was from a run.
 */
export function errorWords({ errorFraction }: IMeasuredInfo): string {
  const size = format(Math.abs(errorFraction), 'fraction');
  if (errorFraction === 0) {
    return t('predicted exactly');
  }
  return errorFraction > 0
    ? t('predicted %1 too slow', size)
    : t('predicted %1 too fast', size);
}

/**
 * Write a run beside what was predicted of it.
 */
export function runWords(run: IMeasuredInfo): string {
  const values = [
    run.jobName,
    run.label,
    t(run.evidence),
    estimateWords(run.stepTimeS, 's'),
    errorWords(run),
    estimateWords(run.predictedS, 's')
  ];
  return run.hasEnded
    ? t('%1 on %2: %3 %4 a step, %5: %6.', ...values)
    : t('%1 on %2: %3 %4 a step so far, %5: %6.', ...values);
}
