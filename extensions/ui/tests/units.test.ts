import { describe, expect, it } from 'vitest';
import {
  format,
  formatMean,
  formatTicks,
  isWide,
  tickSteps
} from '../src/charts/units.js';
import wideIntervals from '../../../tests/fixtures/wide_intervals.json';

describe('format', () => {
  it.each([
    [0.123456, 's', '123 ms'],
    [1.23456, 's', '1.23 s'],
    [0.0000042, 's', '4.2 µs'],
    [0, 's', '0 s'],
    [3661, 's', '61 min'],
    [7200, 's', '2 h'],
    [-0.5, 's', '−500 ms'],
    [0.9999, 's', '1 s'],
    [1.5, 'USD', '$1.50'],
    [0.000123, 'USD', '$0.000123'],
    [1234.5, 'USD', '$1,234.50'],
    [-2, 'USD', '−$2.00'],
    [0.4567, 'fraction', '45.7 %'],
    [1, 'fraction', '100 %'],
    [1536, 'bytes', '1.5 KiB'],
    [3 * 2 ** 30, 'bytes', '3 GiB'],
    [2 ** 20, 'bytes/s', '1 MiB/s'],
    [1.2345, 'ratio', '1.23×'],
    [12345, 'count', '12,345'],
    [12.345, 'number', '12.3'],
    [0.00034, 'number', '0.00034'],
    [-0.000012, 'number', '−1.2e-05'],
    [3e-13, 'number', '3e-13'],
    [NaN, 'USD', 'unknown']
  ] as const)('writes %d as %s: %s', (value, unit, text) => {
    expect(format(value, unit)).toBe(text);
  });
});

describe('formatTicks', () => {
  it('writes all ticks in the unit of the greatest', () => {
    expect(formatTicks([0, 0.05, 0.1], 0.05, 's')).toEqual([
      '0 ms',
      '50 ms',
      '100 ms'
    ]);
    expect(formatTicks([768, 1024], 256, 'bytes')).toEqual([
      '0.75 KiB',
      '1 KiB'
    ]);
  });

  it('tells ticks apart that are close to each other', () => {
    const labels = formatTicks([0.9995, 1, 1.0005], 0.0005, 'ratio');

    expect(labels).toEqual(['0.9995×', '1×', '1.0005×']);
  });
});

describe('tickSteps', () => {
  it('has whole steps only for what is counted', () => {
    expect(tickSteps('count')[0]).toBe(1);
  });

  it.each(['s', 'bytes', 'number', 'count'] as const)('grows for %s', unit => {
    const steps = tickSteps(unit);

    expect(steps).toEqual([...steps].sort((one, other) => one - other));
    expect(new Set(steps).size).toBe(steps.length);
  });

  it('divides minutes and hours as clocks do', () => {
    expect(tickSteps('s')).toEqual(expect.arrayContaining([60, 600, 3600]));
    expect(tickSteps('s')).not.toContain(100);
  });
});

describe('an interval', () => {
  it.each(wideIntervals)(
    'from $low to $high is too wide for one number: $is_wide',
    ({ low, high, is_wide }) => {
      expect(isWide({ low, high })).toBe(is_wide);
    }
  );

  it('that is very wide has a sign before its mean', () => {
    expect(formatMean(0.2, { low: 0.1, high: 0.9 }, 's')).toBe('≈\u00a0200 ms');
    expect(formatMean(0.2, { low: 0.1, high: 0.3 }, 's')).toBe('200 ms');
    expect(formatMean(0.2, null, 's')).toBe('200 ms');
  });
});
