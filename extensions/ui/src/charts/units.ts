import type { Unit } from './options.js';
import { t } from '../i18n.js';

/**
 * A step of a unit: from `least` on, a value is shown divided by `size` and with `word`.
 */
interface IScale {
  readonly least: number;
  readonly size: number;
  readonly word: string;
}

const SECONDS: readonly IScale[] = [
  { least: 7200, size: 3600, word: ' h' },
  { least: 600, size: 60, word: ' min' },
  { least: 1, size: 1, word: ' s' },
  { least: 1e-3, size: 1e-3, word: ' ms' },
  { least: 0, size: 1e-6, word: ' µs' }
];
const BYTES: readonly IScale[] = [
  { least: 1024 ** 4, size: 1024 ** 4, word: ' TiB' },
  { least: 1024 ** 3, size: 1024 ** 3, word: ' GiB' },
  { least: 1024 ** 2, size: 1024 ** 2, word: ' MiB' },
  { least: 1024, size: 1024, word: ' KiB' },
  { least: 0, size: 1, word: ' B' }
];
const SCALES: Readonly<Record<Unit, readonly IScale[]>> = {
  s: SECONDS,
  bytes: BYTES,
  'bytes/s': BYTES.map(scale => ({ ...scale, word: `${scale.word}/s` })),
  USD: [{ least: 0, size: 1, word: '' }],
  fraction: [{ least: 0, size: 0.01, word: ' %' }],
  ratio: [{ least: 0, size: 1, word: '×' }],
  count: [{ least: 0, size: 1, word: '' }],
  number: [{ least: 0, size: 1, word: '' }]
};
const MOST_DIGITS = 12;
const LEAST_FIXED = 1e-4;
const WIDEST = 4;

/**
 * The ends of an interval.
 */
export interface IEnds {
  readonly low: number;
  readonly high: number;
}

/**
 * Return whether an interval is too wide for its mean to tell anything: over fourfold.
 *
 * Mirrors `smtc_lab.metrics.result.is_wide`; both read `tests/fixtures/wide_intervals.json`.
 */
export function isWide({ low, high }: IEnds): boolean {
  return low < high && !(low > 0 && high <= WIDEST * low);
}

/**
 * Write a mean with its unit, and a sign before it where its interval is too wide: `≈ 184 ms`.
 *
 * @param ends - Null: it has no interval.
 */
export function formatMean(
  mean: number,
  ends: IEnds | null,
  unit: Unit
): string {
  const sign = ends !== null && isWide(ends) ? '≈\u00a0' : '';
  return sign + format(mean, unit);
}

/**
 * Write a number with its unit, with three digits that matter: `0.00034`, `1.2e-05`. NaN is
 * "unknown".
 */
export function format(value: number, unit: Unit): string {
  if (Number.isNaN(value)) {
    return t('unknown');
  }
  // rounded first: 0.9999 s is 1 s, not 1,000 ms
  const size = Math.abs(Number(value.toPrecision(3)));
  if (unit === 'number' && size > 0 && size < LEAST_FIXED) {
    const text = value.toExponential(2).replace(/\.?0*e/, 'e');
    return text.replace(/-(?=\d$)/, '-0').replace(/^-/, '−');
  }
  const scale = scaleOf(unit, size);
  const scaled = value / scale.size;
  const whole = unit === 'count' ? 0 : digitsFor(scaled, 3);
  // a price of a cent and a half is no cent
  return (
    write(scaled, unit, unit === 'USD' ? Math.max(2, whole) : whole) +
    scale.word
  );
}

/**
 * Write the ticks of an axis: all in one unit, with just the digits that tell them apart.
 *
 * @param step - From one tick to the next.
 */
export function formatTicks(
  values: readonly number[],
  step: number,
  unit: Unit
): string[] {
  const greatest = Math.max(...values.map(Math.abs), 0);
  const scale = scaleOf(unit, greatest);
  const digits = exactDigits(step / scale.size);
  return values.map(
    value => write(value / scale.size, unit, digits) + scale.word
  );
}

/**
 * Return the steps that ticks of a unit may have, least first, in the unit's own values: round
 * in what is shown.
 */
export function tickSteps(unit: Unit): number[] {
  if (unit === 'bytes' || unit === 'bytes/s') {
    return Array.from({ length: 60 }, (_, power) => 2 ** power);
  }
  const decimal = Array.from({ length: 31 }, (_, place) => place - 15).flatMap(
    power => [1, 2, 5].map(digit => Number(`${digit}e${power}`))
  );
  if (unit === 'count') {
    return decimal.filter(step => step >= 1);
  }
  if (unit === 's') {
    const parts = [60, 120, 300, 600, 1200, 1800];
    const hours = decimal.filter(step => step >= 1).map(step => 3600 * step);
    return [...decimal.filter(step => step < 60), ...parts, ...hours];
  }
  return decimal;
}

function scaleOf(unit: Unit, magnitude: number): IScale {
  const scales = SCALES[unit];
  const last = scales[scales.length - 1] as IScale;
  if (magnitude === 0) {
    return scales.find(scale => scale.size === 1) ?? last;
  }
  return scales.find(scale => magnitude >= scale.least) ?? last;
}

/**
 * Decimals that show so many digits of a number that matter.
 */
function digitsFor(value: number, digits: number): number {
  if (value === 0 || !Number.isFinite(value)) {
    return 0;
  }
  // 1e-9: the logarithm of 0.001 is not quite -3
  const power = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
  return Math.min(MOST_DIGITS, Math.max(0, digits - 1 - power));
}

/**
 * Decimals that show all of a number, for example two of 0.25.
 */
function exactDigits(value: number): number {
  let digits = 0;
  let scaled = value;
  while (
    digits < MOST_DIGITS &&
    Math.abs(scaled - Math.round(scaled)) > 1e-6 * scaled
  ) {
    digits += 1;
    scaled *= 10;
  }
  return digits;
}

function write(value: number, unit: Unit, digits: number): string {
  const least = unit === 'USD' ? Math.min(2, digits) : 0;
  const text = writer(least, digits).format(Math.abs(value));
  const sign = value < 0 && /[1-9]/.test(text) ? '−' : '';
  return unit === 'USD' ? `${sign}$${text}` : sign + text;
}

const WRITERS = new Map<string, Intl.NumberFormat>();

/**
 * Return a writer of numbers; to make one takes longer than to use it a hundred times.
 */
function writer(least: number, most: number): Intl.NumberFormat {
  const key = `${least} ${most}`;
  const made =
    WRITERS.get(key) ??
    new Intl.NumberFormat('en-US', {
      minimumFractionDigits: least,
      maximumFractionDigits: most
    });
  WRITERS.set(key, made);
  return made;
}
