import type { IPlannedModelInfo, IPlannedStageInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';

const MB = 1e6;
const KB = 1e3;

/**
 * Write a predicted time in the unit of a model.
 */
export function timeWords(time: number, { unit }: IPlannedModelInfo): string {
  return format(time, unit);
}

/**
 * Write bytes as limits of devices are given: in megabytes, or kilobytes where there are few.
 */
export function megabytes(bytes: number): string {
  return bytes === 0 || bytes >= MB / 10
    ? t('%1 MB', format(bytes / MB, 'number'))
    : t('%1 kB', format(bytes / KB, 'number'));
}

/**
 * Return by how many bytes a stage holds more than it may; 0 or less: it fits.
 */
export function missingBytes({
  heldBytes,
  limitBytes
}: IPlannedStageInfo): number {
  return limitBytes === null ? 0 : heldBytes - limitBytes;
}

/**
 * Say what a stage holds, and what is missing.
 */
export function memoryWords(stage: IPlannedStageInfo): string {
  const { heldBytes, limitBytes } = stage;
  if (limitBytes === null) {
    return t('holds %1', megabytes(heldBytes));
  }
  const held = t('holds %1 of %2', megabytes(heldBytes), megabytes(limitBytes));
  const missing = missingBytes(stage);
  return missing > 0 ? t('⚠ %1 short: %2', megabytes(missing), held) : held;
}

/**
 * Say what comes from the stage before; null: the first stage receives nothing.
 */
export function receivedWords(
  { receivedBytes }: IPlannedStageInfo,
  place: number
): string {
  return place === 0
    ? t('reads the batch')
    : t(
        '→ %1 from stage %2 for each microbatch',
        megabytes(receivedBytes),
        place - 1
      );
}

/**
 * Say what all times come from.
 */
export function basisWords(model: IPlannedModelInfo): string {
  const { schedule, microbatches, isMeasured, unit } = model;
  return [
    t('%1, %2 microbatches', schedule, microbatches),
    isMeasured
      ? t('predicted by what modules took on this machine')
      : t('predicted by operations'),
    ...(unit === 'fraction'
      ? [t('times are shares of a step of one device')]
      : [])
  ].join('; ');
}

/**
 * Name folded modules.
 */
export function smallWords(count: number): string {
  return count === 1 ? t('1 small module') : t('%1 small modules', count);
}

/**
 * Say what a change has brought.
 *
 * @param name - Of what was moved; empty: nothing was.
 * @param others - Modules that moved with it.
 */
export function answerWords(
  name: string,
  others: number,
  step: string
): string {
  if (name === '') {
    return t('A step takes %1, predicted.', step);
  }
  return others === 0
    ? t('%1 moved. A step takes %2, predicted.', name, step)
    : t(
        '%1 moved with %2 more. A step takes %3, predicted.',
        name,
        others,
        step
      );
}

/**
 * Say how modules are moved.
 */
export function hintWords(): string {
  return [
    t(
      'Drag a module to the stage beside it, or press ← or → on it; ↑ and ↓ go to others.'
    ),
    t(
      'Stages are sequences: all modules between it and the boundary move with it.'
    ),
    t('The filled height of a box is its time.'),
    t(
      '▸ 3: three small modules, below 0.5 % of a step; Enter or a click opens it.'
    )
  ].join(' ');
}
