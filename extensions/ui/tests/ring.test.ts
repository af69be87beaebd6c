import { expect, it } from 'vitest';
import { Ring } from '../src/live/ring.js';
import { randomNumbers } from './tables.js';

it.each([1, 7, 1_000, 5_000])('keeps the last %i rows', capacity => {
  const random = randomNumbers(capacity);
  const ring = new Ring(2, capacity);
  let rows: number[] = [];
  for (let block = 0; block < 60; block++) {
    const added = Array.from({ length: Math.floor(random() * 700) }, random);
    ring.append([Float64Array.from(added), Float64Array.from(added, x => -x)]);
    rows = [...rows, ...added].slice(-capacity);
    expect([...ring.column(0)]).toEqual(rows);
  }
  expect([...ring.column(1)]).toEqual(rows.map(x => -x));
});

it('keeps the end of a block that is larger than itself', () => {
  const ring = new Ring(1, 3);
  ring.append([Float64Array.of(0)]);
  ring.append([Float64Array.of(1, 2, 3, 4, 5)]);

  expect([...ring.column(0)]).toEqual([3, 4, 5]);
});

it('is empty when it was cleared', () => {
  const ring = new Ring(1, 3);
  ring.append([Float64Array.of(1, 2)]);
  ring.clear();

  expect(ring.length).toBe(0);
  expect(() => ring.column(1)).toThrow(/no column 1; there are 1/);
});
