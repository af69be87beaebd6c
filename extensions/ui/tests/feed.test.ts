import { beforeEach, expect, it, vi } from 'vitest';
import { Feed } from '../src/live/feed.js';
import { FakeModel } from './fake_model.js';

let model: FakeModel;
let feed: Feed;
let now = 0;

function receive(type: string, first: number, ...values: number[]): void {
  const message = { type, table: 'rows', columns: ['x'], first };
  model.tell('msg:custom', message, [
    new DataView(Float64Array.from(values).buffer)
  ]);
}

beforeEach(() => {
  now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  model = new FakeModel({});
  feed = new Feed(model);
});

it('asks for what was sent before it listened', () => {
  expect(model.sent).toEqual([{ type: 'resync' }]);
});

it('tells of a table once', () => {
  const listener = vi.fn();
  feed.onTable(listener);
  receive('rows', 0, 1);
  receive('rows', 1, 2);

  expect(listener).toHaveBeenCalledTimes(1);
  expect(feed.table('rows')?.numRows).toBe(2);
  expect(feed.tables).toHaveLength(1);
});

it('waits for the answer to its first question', () => {
  receive('rows', 500, 1);
  receive('rows', 501, 1);

  expect(model.sent).toHaveLength(1);
});

it('asks seldom while a busy kernel does not answer', () => {
  const asked: number[] = [];
  for (let second = 0; second < 600; second++) {
    now += 1_000;
    receive('rows', 10 * second + 5, 1);
    if (model.sent.length > asked.length + 1) {
      asked.push(second);
    }
  }

  expect(asked.length).toBeGreaterThan(3);
  expect(asked.length).toBeLessThan(9);
});

it('asks for the one table that has a gap, and no more after the answer', () => {
  receive('rows', 0, 1);
  now += 60_000;
  receive('rows', 7, 1);
  expect(model.sent.slice(1)).toEqual([{ type: 'resync', table: 'rows' }]);

  receive('reset', 0, 1, 2, 3, 4, 5, 6, 7, 8);
  now += 60_000;
  receive('rows', 8, 9);
  expect(model.sent).toHaveLength(2);
});

it('leaves messages alone that are no frames', () => {
  expect(() => {
    receive('log', 0);
  }).not.toThrow();
  expect(feed.tables).toHaveLength(0);
});

it('asks for old rows', () => {
  feed.read('rows', 10, 20, 5);

  expect(model.sent[1]).toEqual({
    type: 'read',
    table: 'rows',
    first: 10,
    end: 20,
    most: 5
  });
});
