import type { IInterval, IRunInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import type { Unit } from '../charts/options.js';
import { t } from '../i18n.js';

/**
 * Write how long something lasted: `12 s`, `3 min 05 s`, `2 h 04 min`.
 */
export function duration(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (whole < 60) {
    return `${whole} s`;
  }
  if (whole < 3600) {
    return t('%1 min %2 s', Math.floor(whole / 60), two(whole % 60));
  }
  return t(
    '%1 h %2 min',
    Math.floor(whole / 3600),
    two(Math.floor(whole / 60) % 60)
  );
}

/**
 * Write a mean with its interval: `184 ms (181 ms to 187 ms)`.
 */
export function intervalWords(interval: IInterval, unit: Unit): string {
  const [mean, low, high] = [interval.mean, interval.low, interval.high].map(
    value => format(value, unit)
  ) as [string, string, string];
  return t('%1 (%2 to %3)', mean, low, high);
}

/**
 * Write a fraction as a percentage, or that it is unknown.
 */
export function percent(fraction: number | null): string {
  return fraction === null ? t('unknown') : format(fraction, 'fraction');
}

/**
 * Say what the numbers of a run are, with the scale of an emulation.
 */
export function evidenceWords(run: IRunInfo): string {
  if (run.evidence === 'measured') {
    return run.runsHere ? t('on this machine') : t('on the instances');
  }
  const scale =
    run.coresPerVcpu === null
      ? t('scale not known yet')
      : t(
          '1 vCPU = %1 cores of this machine',
          format(run.coresPerVcpu, 'number')
        );
  const device =
    run.deviceStepTimeS === null
      ? t('no device')
      : t('declared device time %1 per step', format(run.deviceStepTimeS, 's'));
  return t('scale model: %1, %2', scale, device);
}

/**
 * Say how far a run is.
 */
export function stepWords(steps: number, maxSteps: number | null): string {
  const made = format(steps, 'count');
  return maxSteps === null
    ? t('%1 steps', made)
    : t('%1 of %2 steps', made, format(maxSteps, 'count'));
}

/**
 * Say what a run costs per hour, or that nobody knows.
 */
export function priceWords(run: IRunInfo): string {
  return run.usdPerHour === null
    ? t('a price is unknown')
    : t('at %1/h', format(run.usdPerHour, 'USD'));
}

/**
 * Say what a run has cost, or that nobody knows.
 */
export function costWords(run: IRunInfo, elapsedS: number | null): string {
  if (run.usdPerHour === null || elapsedS === null) {
    return t('unknown');
  }
  return format((run.usdPerHour * elapsedS) / 3600, 'USD');
}

/**
 * Say why there is nothing of the steps to show.
 */
export function emptyWords(run: IRunInfo): string {
  if (run.steps === null) {
    return t('Reading what the run has recorded …');
  }
  if (run.steps > 0) {
    return t('Adding up the steps …');
  }
  if (run.ended) {
    return t('This run recorded no step.');
  }
  return run.state === 'Pending'
    ? t('Starting the instances …')
    : t('Starting: the instances are up, and no step has ended yet.');
}
