import { expect, it, vi } from 'vitest';
import { frameOf, tableOf } from './tables.js';

it('calls back after each frame until it is left', () => {
  const table = tableOf({ x: [0] });
  const listener = vi.fn();
  const leave = table.subscribe(listener);
  table.take(frameOf('rows', 1, { x: [1] }));
  leave();
  table.take(frameOf('rows', 2, { x: [2] }));

  expect(listener).toHaveBeenCalledTimes(1);
});

it('does not take a row twice', () => {
  const table = tableOf({ x: [0, 1, 2] });

  expect(table.take(frameOf('rows', 1, { x: [1, 2, 3] }))).toBe(true);
  expect(table.take(frameOf('rows', 0, { x: [0] }))).toBe(true);
  expect([...table.column('x')]).toEqual([0, 1, 2, 3]);
});

it('shows what comes behind rows that were lost, and tells it', () => {
  const table = tableOf({ x: [0, 1] });

  expect(table.take(frameOf('rows', 5, { x: [5, 6] }))).toBe(false);
  expect([...table.column('x')]).toEqual([5, 6]);
  expect(table.numRows).toBe(7);
  expect(table.firstKept).toBe(5);
  expect([...(table.olderBins().mean[0] as Float64Array)]).toEqual([
    0,
    1,
    NaN,
    NaN,
    NaN
  ]);
});

it('has all rows again after a reset in the middle', () => {
  const table = tableOf({ x: [0] });
  table.take(frameOf('rows', 5, { x: [5] }));
  table.take(frameOf('reset', 0, { x: [0, 1, 2, 3, 4, 5] }));

  expect(table.take(frameOf('rows', 6, { x: [6] }))).toBe(true);
  expect([...table.column('x')]).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

it('keeps what was asked for until a reset', () => {
  const table = tableOf({ x: [0] });
  const part = frameOf('part', 3, { x: [3] });
  table.take(part);
  expect(table.part).toBe(part);

  table.take(frameOf('reset', 0, { x: [0] }));
  expect(table.part).toBeNull();
});

it('names the columns that it refuses', () => {
  const table = tableOf({ x: [0], y: [0] });

  expect(() => table.take(frameOf('rows', 1, { x: [1], z: [1] }))).toThrow(
    /columns x, y, but was sent x, z.*again/
  );
  expect(() => table.column('z')).toThrow(/no column 'z'. It has x, y/);
});
