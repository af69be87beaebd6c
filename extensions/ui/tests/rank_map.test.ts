import { readWire } from '@smtc-lab/protocol';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { rankMap } from '../src/run/rank_map.js';
import { spreadFacts } from '../src/run/spread.js';
import wire from '../../../tests/fixtures/run_info.json';
import { charts, marks } from './no_chart.js';

vi.mock('../src/charts/heat_map.js', async () => await import('./no_chart.js'));

const TITLE = 'Own work of each trainer over the steps';
const MAP = {
  trainers: 3,
  steps: 5,
  width: 2,
  tells_waits: true,
  slow_from: 0.05,
  rows: [
    rowOf(0, 0, [0.5, 0.5, null]),
    rowOf(1, 0.29, [1, 1, 0.9]),
    rowOf(2, null, [0.5, 0.4, 0.5])
  ]
};

function rowOf(
  rank: number,
  excess: number | null,
  own: readonly (number | null)[]
) {
  return {
    rank,
    host: `algo-${rank + 1}`,
    excess_fraction: excess,
    own_fraction: own
  };
}

function infoOf(changed: object) {
  return readWire('RunInfo', { ...wire, ...changed });
}

let part: ReturnType<typeof rankMap>;

beforeEach(() => {
  part = rankMap();
});

afterEach(() => {
  part.dispose?.();
});

const column = (place: number): number[] => {
  const series = charts.get(TITLE)?.[place];
  return [...(series?.table.column(series.y) ?? [])];
};

it('is hidden where one trainer, or an older version, tells nothing', () => {
  part.update(infoOf({ rank_map: null }));

  expect(part.element.hidden).toBe(true);
  expect(charts.has(TITLE)).toBe(false);
});

it('has a row for each trainer, and marks the slow one', () => {
  part.update(infoOf({ rank_map: MAP }));

  expect(part.element.hidden).toBe(false);
  expect(charts.get(TITLE)?.map(({ label }) => label)).toEqual([
    'rank 0, algo-1',
    'rank 1, algo-2',
    'rank 2, algo-3'
  ]);
  expect(column(0)).toEqual([0.5, 0.5, NaN]);
  expect([...(charts.get(TITLE)?.[0]?.table.column('step') ?? [])]).toEqual([
    0, 2, 4
  ]);
  expect(marks.get(TITLE)).toEqual([null, '+29 %', null]);
  expect(part.element.textContent).toContain(
    'Rank 1 on algo-2 works 29 % longer than the median trainer.'
  );
});

it('follows the steps in the same chart', () => {
  part.update(infoOf({ rank_map: MAP }));
  const before = charts.get(TITLE)?.[0]?.table;
  const rows = MAP.rows.map(row => ({ ...row, own_fraction: [1, 1] }));
  part.update(infoOf({ rank_map: { ...MAP, steps: 7, width: 4, rows } }));

  expect(charts.get(TITLE)?.[0]?.table).toBe(before);
  expect(column(2)).toEqual([1, 1]);
  expect([...(before?.column('step') ?? [])]).toEqual([0, 4]);
});

it('says when no trainer is slow, and when several are', () => {
  const even = MAP.rows.map(row => ({ ...row, excess_fraction: 0.01 }));
  part.update(infoOf({ rank_map: { ...MAP, rows: even } }));
  expect(part.element.textContent).toContain('No trainer works 5 % longer');

  const [first, second, third] = MAP.rows;
  const slow = [first, second, { ...third, excess_fraction: 0.1 }];
  part.update(infoOf({ rank_map: { ...MAP, steps: 6, rows: slow } }));
  expect(part.element.textContent).toContain('2 of 3 trainers work longer');
});

it('says what it leaves out', () => {
  part.update(
    infoOf({ rank_map: { ...MAP, trainers: 100, tells_waits: false } })
  );

  const note = part.element.querySelector('.smtc-note')?.textContent;
  expect(note).toContain('Waits for each other were not recorded');
  expect(note).toContain('3 of 100 trainers are shown');
});

it('survives rows of other lengths, as a damaged file may have them', () => {
  const rows = [rowOf(0, 0, [1, 1]), rowOf(1, 0, []), rowOf(2, 0, [1, 1, 1])];
  part.update(infoOf({ rank_map: { ...MAP, rows } }));

  expect(column(1)).toEqual([NaN, NaN]);
  expect(column(2)).toEqual([1, 1]);
});

it('tells distribution and declared network as facts', () => {
  const spread = {
    trainers: 4,
    replicas: 2,
    shard: 2,
    between: { gbps: 0.01, latency_s: 1e-4 },
    inside: { gbps: 10, latency_s: 2e-5 },
    is_rated: false
  };

  expect(spreadFacts(infoOf({ spread: null }))).toEqual([]);
  const alone = { ...spread, replicas: 1, between: null };
  expect(spreadFacts(infoOf({ spread: { ...alone, inside: null } }))).toEqual([
    ['trainers', '4', 'one replica of the model, on 2 devices']
  ]);
  expect(spreadFacts(infoOf({ spread }))).toEqual([
    ['trainers', '4', '2 replicas of the model, each on 2 devices'],
    [
      'network between trainers',
      'between instances 10 Mbit/s, 100 µs; inside an instance 10 Gbit/s, 20 µs',
      'declared'
    ]
  ]);
  const rated = { ...spread, inside: null, is_rated: true };
  expect(spreadFacts(infoOf({ spread: rated })).at(-1)).toEqual([
    'network between trainers',
    'between instances 10 Mbit/s, 100 µs',
    'of the catalog'
  ]);
});
