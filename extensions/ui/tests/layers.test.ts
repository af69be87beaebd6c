import { expect, it } from 'vitest';
import { heightOf, layerOf } from '../src/charts/layers.js';
import type { IAxis } from '../src/charts/options.js';
import { seriesSummary, seriesTable } from '../src/charts/series_text.js';
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

it('breaks a line and its band where there is a gap', () => {
  const table = tableOf({ x: [0, 1, 6, 7], y: [2, 3, 4, 5] });
  const gap = { label: '', from: 2, to: 5, look: 'gap' } as const;
  const { line } = layerOf(seriesOf(table), SEEN, 100, [gap]);
  const rolling = layerOf(seriesOf(table, { as: 'rolling' }), SEEN, 100, [gap]);

  expect([...(line?.x ?? [])]).toEqual([0, 1, 6, 6, 7]);
  expect([...(line?.y ?? [])]).toEqual([2, 3, NaN, 4, 5]);
  expect(rolling.band?.low[2]).toBeNaN();
  expect(rolling.line?.y).toHaveLength(5);
});

it('takes off what is not billed from a row on', () => {
  const table = tableOf({ x: [0, 1, 2], y: [5, 25, 30] });
  const series = seriesOf(table, { factor: 2, less: [{ from: 1, by: 15 }] });

  expect([...(layerOf(series, SEEN, 100).line?.y ?? [])]).toEqual([10, 20, 30]);
});

it('tells interruptions in the table and the sentence of a chart', () => {
  const series = [seriesOf(tableOf({ x: [0, 9], y: [1, 1] }))];
  const told = { label: 'interrupted: 3 s lost', short: 'interrupted' };
  const heading = {
    title: 'CPU',
    x: { label: 'time', unit: 's' },
    y: AXIS,
    shades: [
      { label: 'warm-up', from: 0, to: 1 },
      { ...told, from: 2, to: 5 },
      { ...told, from: 20, to: 25 }
    ]
  } as const;

  expect(seriesTable(heading, series, SEEN, 9).rows).toEqual([
    ['0 s', '1 s'],
    ['2 s', 'interrupted: 3 s lost'],
    ['9 s', '1 s']
  ]);
  expect(seriesSummary(heading, series, SEEN)).toMatch(
    / time 2 s, interrupted: 3 s lost\.$/
  );
});
