import type { IInterval, IRunInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import type { Unit } from '../charts/options.js';

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
    return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  }
  return `${Math.floor(whole / 3600)} h ${two(Math.floor(whole / 60) % 60)} min`;
}

/**
 * Write a mean with its interval: `184 ms (181 ms to 187 ms)`.
 */
export function intervalWords(interval: IInterval, unit: Unit): string {
  const [mean, low, high] = [interval.mean, interval.low, interval.high].map(
    value => format(value, unit)
  ) as [string, string, string];
  return `${mean} (${low} to ${high})`;
}

/**
 * Write a fraction as a percentage, or that it is unknown.
 */
export function percent(fraction: number | null): string {
  return fraction === null ? 'unknown' : format(fraction, 'fraction');
}

/**
 * Say what the numbers of a run are, with the scale of an emulation.
 */
export function evidenceWords(run: IRunInfo): string {
  if (run.evidence === 'measured') {
    return run.launcher === 'local' ? 'on this machine' : 'on the instances';
  }
  const scale =
    run.coresPerVcpu === null
      ? 'scale not known yet'
      : `1 vCPU = ${format(run.coresPerVcpu, 'number')} cores of this machine`;
  const device =
    run.deviceStepTimeS === null
      ? 'no device'
      : `declared device time ${format(run.deviceStepTimeS, 's')} per step`;
  return `scale model: ${scale}, ${device}`;
}

/**
 * Say how far a run is.
 */
export function stepWords(steps: number, maxSteps: number | null): string {
  const made = format(steps, 'count');
  return maxSteps === null
    ? `${made} steps`
    : `${made} of ${format(maxSteps, 'count')} steps`;
}

/**
 * Say what a run costs per hour, or that nobody knows.
 */
export function priceWords(run: IRunInfo): string {
  return run.usdPerHour === null
    ? 'a price is unknown'
    : `at ${format(run.usdPerHour, 'USD')}/h`;
}

/**
 * Say what a run has cost, or that nobody knows.
 */
export function costWords(run: IRunInfo, elapsedS: number | null): string {
  if (run.usdPerHour === null || elapsedS === null) {
    return 'unknown';
  }
  return format((run.usdPerHour * elapsedS) / 3600, 'USD');
}

/**
 * Say why there is nothing of the steps to show.
 */
export function emptyWords(run: IRunInfo): string {
  if (run.steps === null) {
    return 'Reading what the run has recorded …';
  }
  if (run.steps > 0) {
    return 'Adding up the steps …';
  }
  if (run.ended) {
    return 'This run recorded no step.';
  }
  return run.state === 'Pending'
    ? 'Starting the instances …'
    : 'Starting: the instances are up, and no step has ended yet.';
}
