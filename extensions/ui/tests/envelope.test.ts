import { expect, it } from 'vitest';
import { dashed, envelope, type IEnvelope } from '../src/charts/envelope.js';

function band(
  x: number[],
  y: number[],
  area: [left: number, columns: number]
): IEnvelope {
  return envelope(Float64Array.from(x), Float64Array.from(y), 2, area);
}

it('covers each column that a line goes through', () => {
  const { x, low, high } = band([10.5, 13.5], [0, 6], [10, 4]);

  expect([...x]).toEqual([10.5, 11.5, 12.5, 13.5]);
  expect([...low]).toEqual([-1, 0, 2, 4]);
  expect([...high]).toEqual([2, 4, 6, 7]);
});

it('covers the extremes of one column', () => {
  const { low, high } = band([3, 3.2, 3.4, 3.6], [5, -40, 90, 5], [3, 1]);

  expect([...low]).toEqual([-41]);
  expect([...high]).toEqual([91]);
});

it('covers nothing in a gap, and a lone place', () => {
  const { low } = band([0, 1, 2, 3, 4], [7, NaN, NaN, 7, NaN], [0, 5]);

  expect([...low]).toEqual([6, NaN, NaN, 6, NaN]);
});

it('keeps to what is seen, however far the line goes', () => {
  const { low, high } = band([-1e9, 1e9], [-1e9, 1e9], [0, 3]);

  expect([...low]).toEqual([-1, 0, 1]);
  expect([...high]).toEqual([2, 3, 4]);
});

it('covers nothing without a place', () => {
  expect(band([], [], [0, 2]).low).toEqual(Float64Array.of(NaN, NaN));
});

it('has each column either in a dash or in a gap', () => {
  const line = band([0, 30], [1, 1], [0, 30]);
  const dashes = dashed(line, [3, 2], 'dashes').low;
  const gaps = dashed(line, [3, 2], 'gaps').low;

  expect([...dashes].slice(0, 5).map(Number.isNaN)).toEqual([
    false,
    false,
    false,
    true,
    true
  ]);
  dashes.forEach((value, place) => {
    expect(Number.isNaN(value)).toBe(!Number.isNaN(gaps[place]));
  });
});
