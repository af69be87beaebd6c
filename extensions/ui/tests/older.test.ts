import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Older } from '../src/charts/older.js';
import type { Table } from '../src/live/table.js';
import { count, frameOf, seriesOf, tableOf } from './tables.js';

const SEEN = { from: 3_200, to: 3_519 };
const COLUMNS = 100;

let table: Table;
let read: ReturnType<typeof vi.fn>;
let older: Older;

beforeEach(() => {
  vi.useFakeTimers();
  const rows = count(100_000);
  table = tableOf({ x: rows, y: rows }, 1_000); // 32 rows in each bin
  read = vi.fn();
  older = new Older(read);
});

afterEach(() => {
  older.dispose();
  vi.useRealTimers();
});

it('asks once for what is seen of old rows, in as many bins as can be seen', () => {
  for (let drawing = 0; drawing < 50; drawing++) {
    older.look([seriesOf(table)], SEEN, COLUMNS);
    vi.advanceTimersByTime(16);
  }

  expect(read).toHaveBeenCalledTimes(1);
  const [name, first, end, most] = read.mock.calls[0] as [
    string,
    number,
    number,
    number
  ];
  expect(name).toBe('rows');
  expect(first).toBeLessThanOrEqual(SEEN.from);
  expect(end).toBeGreaterThan(SEEN.to);
  expect(most).toBe(2 * COLUMNS);
});

it('asks again when there is no answer', () => {
  older.look([seriesOf(table)], SEEN, COLUMNS);
  vi.advanceTimersByTime(11_000);
  older.look([seriesOf(table)], SEEN, COLUMNS);

  expect(read).toHaveBeenCalledTimes(2);
});

it('is content with the answer', () => {
  older.look([seriesOf(table)], SEEN, COLUMNS);
  const [, first, end] = read.mock.calls[0] as [string, number, number];
  const x = count(end - first).map(row => row + first);
  table.take(frameOf('part', first, { x, y: x }));
  vi.advanceTimersByTime(60_000);
  older.look([seriesOf(table)], SEEN, COLUMNS);
  vi.advanceTimersByTime(60_000);

  expect(read).toHaveBeenCalledTimes(1);
});

it('asks for nothing that is kept as it is, nor where bins are enough', () => {
  older.look([seriesOf(table)], { from: 99_500, to: 99_900 }, COLUMNS);
  older.look([seriesOf(table)], { from: 0, to: 99_999 }, COLUMNS);

  expect(read).not.toHaveBeenCalled();
});
