import type { IInterval } from '@smtc-lab/protocol';
import type { Unit } from '../charts/options.js';
import { format, formatMean } from '../charts/units.js';
import { mark, t } from '../i18n.js';

const STATES: Readonly<Record<string, string>> = {
  Pending: /* @__PURE__ */ mark('Starting'),
  InProgress: /* @__PURE__ */ mark('Running'),
  Starting: /* @__PURE__ */ mark('Starting'),
  Downloading: /* @__PURE__ */ mark('Downloading'),
  Uploading: /* @__PURE__ */ mark('Uploading'),
  Interrupted: /* @__PURE__ */ mark('Interrupted'),
  Stopping: /* @__PURE__ */ mark('Stopping'),
  Completed: /* @__PURE__ */ mark('Completed'),
  Failed: /* @__PURE__ */ mark('Failed'),
  Stopped: /* @__PURE__ */ mark('Stopped')
};

/**
 * Return the word that people read for a state in SageMaker's spelling, to be translated; for one
 * in progress that of its secondary state, where that tells more.
 */
export function stateWord(state: string, secondary = ''): string {
  const own = state === 'InProgress' ? secondary : state;
  return STATES[own] ?? STATES[state] ?? state;
}

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
 * Write a mean with its interval: `184 ms (181 ms to 187 ms in 1 launch)`.
 */
export function intervalWords(interval: IInterval, unit: Unit): string {
  const { spread } = interval;
  const mean = formatMean(interval.mean, interval, unit);
  if (spread === 'none') {
    return t('%1 (one value)', mean);
  }
  const low = format(interval.low, unit);
  const high = format(interval.high, unit);
  return spread === 'steps'
    ? t('%1 (%2 to %3 in 1 launch)', mean, low, high)
    : t('%1 (%2 to %3)', mean, low, high);
}

/**
 * Whether an interval is of one launch, which tells nothing of how launches differ.
 */
export function isOfOneLaunch({ spread }: IInterval): boolean {
  return spread === 'steps' || spread === 'none';
}

/**
 * Write a mean that more launches would tell better: one launch has no interval.
 */
export function overLaunches(interval: IInterval, unit: Unit): string {
  return isOfOneLaunch(interval)
    ? t('%1 (one launch)', formatMean(interval.mean, interval, unit))
    : intervalWords(interval, unit);
}

/**
 * Write a fraction as a percentage, or that it is unknown.
 */
export function percent(fraction: number | null): string {
  return fraction === null ? t('unknown') : format(fraction, 'fraction');
}
