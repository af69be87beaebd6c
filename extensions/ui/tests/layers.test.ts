import { expect, it } from 'vitest';
import { heightOf, layerOf } from '../src/charts/layers.js';
import type { IAxis } from '../src/charts/options.js';
import { count, seriesOf, tableOf } from './tables.js';

const AXIS: IAxis = { label: 'step time', unit: 's' };
const SEEN = { from: 0, to: 9 };

function heightFor(
  y: readonly number[],
  axis = AXIS,
  shades: { from: number; to: number }[] = []
): { from: number; to: number } {
  const series = seriesOf(tableOf({ x: count(y.length), y }));
  return heightOf([layerOf(series, SEEN, 100)], SEEN, shades, axis);
}

it('multiplies with the factor of a series', () => {
  const series = seriesOf(tableOf({ x: [0, 1], y: [2, 3] }), { factor: 10 });

  expect([...(layerOf(series, SEEN, 100).line?.y ?? [])]).toEqual([20, 30]);
});

it('draws an interval as the band that came with it', () => {
  const table = tableOf({ x: [0, 1], y: [2, 3], lo: [1, 2], hi: [4, 5] });
  const series = seriesOf(table, { as: 'interval', low: 'lo', high: 'hi' });
  const { band } = layerOf(series, SEEN, 100);

  expect([...(band?.low ?? [])]).toEqual([1, 2]);
  expect([...(band?.high ?? [])]).toEqual([4, 5]);
});

it('draws a rolling mean over its points', () => {
  const series = seriesOf(tableOf({ x: count(9), y: count(9) }), {
    as: 'rolling'
  });
  const layer = layerOf(series, SEEN, 100);

  expect(layer.isFaint).toBe(true);
  expect(layer.marks?.x).toHaveLength(9);
  expect(layer.line?.y[8]).toBe(4);
});

it('leaves some room above and below', () => {
  const { from, to } = heightFor([1, 2]);

  expect(from).toBeLessThan(1);
  expect(to).toBeGreaterThan(2);
});

it('includes what an axis wants to include, and nothing below 0 then', () => {
  expect(heightFor([5, 6], { ...AXIS, including: 0 }).from).toBe(0);
  expect(heightFor([2, 3], { ...AXIS, including: 1 }).from).toBeLessThan(1);
});

it('does not let the warm-up flatten the rest', () => {
  const y = [100, 50, 1, 2, 1, 2, 1, 2, 1, 2];

  expect(heightFor(y, AXIS, [{ from: 0, to: 1 }]).to).toBeLessThan(3);
  expect(heightFor(y, AXIS, [{ from: 0, to: 9 }]).to).toBeGreaterThan(100);
});

it('has room for nothing, and for one value', () => {
  expect(heightFor([NaN])).toMatchObject({
    from: expect.any(Number) as number
  });
  const { from, to } = heightFor([4]);
  expect(from).toBeLessThan(4);
  expect(to).toBeGreaterThan(4);
});
