import { readWire } from '@smtc-lab/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { extentOf, olderRows, segmentsOf } from '../src/charts/segments.js';
import wire from '../../../tests/fixtures/run_info.json';
import { axesOf } from '../src/run/metric_axes.js';
import { staticResult } from '../src/static_model.js';
import { FakeModel, shownIn } from './fake_model.js';
import { HOSTILE, markupOf } from './hostile.js';
import { charts, shades } from './no_chart.js';
import { count, seriesOf, tableOf } from './tables.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));
vi.mock('../src/charts/heat_map.js', async () => await import('./no_chart.js'));

const COLUMNS = ['step', 'time_s', 'value'];
const WAITED = {
  ...{ from_s: 4, gone_s: 10, back_s: 40, until_s: 50, step: 20 },
  ...{ waited_s: 30, lost_s: 6, lost_usd: 0.01, reason: '' }
};

const SUMMARY = { ...wire.summary, samples_per_step: null };

function metric(name: string, place: number, more: object = {}): object {
  const numbers = { last: 0.5, least: 0.25, greatest: 4, points: 12 };
  return { name, table: `metric:${place}`, ...numbers, ...more };
}

describe('the metrics of a run', () => {
  let model: FakeModel;
  let el: HTMLElement;
  let dispose: () => void;

  beforeEach(() => {
    model = new FakeModel({
      info: { ...wire, evidence: 'measured', summary: SUMMARY },
      beat: { number: 1, elapsed_s: 3 },
      stop_problem: ''
    });
    el = document.createElement('div');
    dispose = shownIn(el, model, 'run-monitor');
  });

  afterEach(() => {
    dispose();
  });

  const section = (): HTMLElement =>
    [...el.querySelectorAll<HTMLElement>('details')].find(
      each => each.querySelector('summary')?.textContent === 'Metrics'
    ) as HTMLElement;
  const control = (label: string): HTMLSelectElement => {
    const labels = [...section().querySelectorAll('label')];
    const found = labels.find(one => one.textContent === label);
    return section().querySelector(
      `[id='${found?.htmlFor}']`
    ) as HTMLSelectElement;
  };
  const choose = (label: string, value: string): void => {
    control(label).value = value;
    control(label).dispatchEvent(new Event('change'));
  };
  const log = (...names: readonly string[]): void => {
    names.forEach((_, place) => {
      model.rows(`metric:${place}`, COLUMNS, [1, 2, 0.5]);
    });
    model.change({ metrics: names.map((name, place) => metric(name, place)) });
  };
  const drawn = (): string[] =>
    [...charts.keys()].filter(title => charts.get(title)?.[0]?.y === 'value');

  it('says how one is logged, once there are steps', () => {
    expect(section().hidden).toBe(false);
    expect(section().textContent).toContain('session.log(loss=loss)');

    model.change({ steps: 0 });
    expect(section().hidden).toBe(true);

    log('loss');
    expect(section().hidden).toBe(false);
    expect(section().textContent).not.toContain('session.log');
  });

  it('have a chart each, losses first, and train and eval share one', () => {
    log(
      'lr',
      'train/loss',
      'accuracy',
      'eval/loss',
      'val_accuracy',
      'aux_loss'
    );

    expect(drawn()).toEqual(['loss', 'aux_loss', 'lr', 'accuracy']);
    const pair = charts.get('loss') ?? [];
    expect(pair.map(({ label }) => label)).toEqual(['train/loss', 'eval/loss']);
    expect(pair.map(({ color }) => color)).toEqual([0, 1]);
    expect(pair[0]).toMatchObject({ as: 'line', evidence: 'measured' });
    expect(section().textContent).toContain(
      'train/loss0.5 the last of 12 values, 0.25 to 4'
    );
  });

  it('are drawn along what is known alone', () => {
    log('loss');
    const offered = (): string[] =>
      [...control('Horizontal axis').options].map(({ value }) => value);

    expect(offered()).toEqual(['steps', 'seconds', 'dollars']);
    model.change({ summary: { ...wire.summary, samples_per_step: 32 } });
    expect(offered()).toEqual(['steps', 'seconds', 'samples', 'dollars']);
    model.change({ usd_per_hour: null });
    expect(offered()).toEqual(['steps', 'seconds', 'samples']);
    model.change({ evidence: 'emulated', usd_per_hour: 3.6 });
    expect(offered()).not.toContain('dollars');
  });

  it('are drawn along no steps where none are told', () => {
    model.change({ steps: 0 });
    model.rows('metric:0', COLUMNS, [0, 2, 0.5]);
    model.change({ metrics: [metric('loss', 0)] });
    expect(charts.get('loss')?.[0]?.x).toBe('time_s');

    model.rows('metric:0', COLUMNS, [0, 2, 0.5], [7, 3, 0.5]);
    model.change({ metrics: [metric('loss', 0, { points: 2 })] });
    expect(charts.get('loss')?.[0]?.x).toBe('step');
  });

  it('stay on the axis that was chosen, with its interruptions', () => {
    model.change({
      interruptions: [WAITED],
      summary: { ...wire.summary, samples_per_step: 32 }
    });
    log('loss');
    const x = (): unknown => charts.get('loss')?.[0]?.x;
    expect(shades.get('loss')?.[0]?.from).toBe(19.5);

    choose('Horizontal axis', 'seconds');
    expect(x()).toBe('time_s');
    expect(shades.get('loss')?.[1]).toMatchObject({ from: 10, look: 'gap' });

    choose('Horizontal axis', 'samples');
    model.change({ summary: { ...wire.summary, samples_per_step: 64 } });
    expect(control('Horizontal axis').value).toBe('samples');
    expect(charts.get('loss')).toHaveLength(1);
    expect(charts.get('loss')?.[0]?.along?.(2)).toBe(128);

    model.change({ summary: SUMMARY });
    expect(control('Horizontal axis').value).toBe('steps');
    expect(x()).toBe('step');
    model.change({ summary: { ...wire.summary, samples_per_step: 64 } });
    expect(control('Horizontal axis').value).toBe('samples');
  });

  it('are smoothed over as many values as was chosen, but not most of them', () => {
    log('train/loss', 'eval/loss');
    const long = metric('train/loss', 0, { points: 200 });
    model.change({ metrics: [long, metric('eval/loss', 1)] });

    choose('Smoothing', '50');
    const [train, evaluated] = charts.get('loss') ?? [];
    expect(train).toMatchObject({ as: 'rolling', window: 50 });
    expect(evaluated?.as).toBe('line');

    model.change({ metrics: [long, metric('eval/loss', 1, { points: 200 })] });
    const kinds = charts.get('loss')?.map(series => series.as);
    expect(kinds).toEqual(['rolling', 'rolling']);

    choose('Smoothing', '1');
    expect(charts.get('loss')?.[0]?.as).toBe('line');
  });

  it('say what is no number and what is left out', () => {
    model.rows('metric:0', COLUMNS, [1, 2, NaN]);
    const none = { last: null, least: null, greatest: null };
    model.change({ metrics: [metric('loss', 0, none)], metrics_left_out: 7 });

    expect(section().textContent).toContain('no number among 12 values');
    expect(section().textContent).toContain('7 more metrics are not drawn');
  });

  it('never make markup of their names', () => {
    log('plain');
    const usual = markupOf(section());

    log(...HOSTILE);

    const added = [...markupOf(section())].filter(name => !usual.has(name));
    expect(added).toEqual([]);
    expect(drawn().every(title => title.length <= 60)).toBe(true);
  });
});

it('shows those of a saved run', () => {
  const columns = { columns: COLUMNS, num_rows: 2, width: 1 };
  const curve = {
    ...columns,
    mean: [
      [1, 2],
      [2, 3],
      [0.5, null]
    ]
  };
  const info = { ...wire, metrics: [metric('loss', 0)] };
  const saved = { version: 1, info, tables: { 'metric:0': curve } };
  const el = document.createElement('div');

  const { view, model } = staticResult(saved);
  const dispose = shownIn(el, model, view);

  const table = charts.get('loss')?.[0]?.table;
  expect(table?.column('value')).toEqual(Float64Array.of(0.5, NaN));
  dispose();
});

it('costs what is billed: no time without instances', () => {
  const told = { ...wire, evidence: 'measured', interruptions: [WAITED] };
  const info = readWire('RunInfo', told);
  const dollars = axesOf(info, () => info).find(one => one.key === 'dollars');

  const usd = [5, 10, 25, 40, 50].map(timeS => dollars?.along?.(timeS));

  expect(usd).toEqual([5, 10, 10, 10, 20].map(billedS => billedS * 1e-3));
});

it('puts rows and bins where another x stands for theirs', () => {
  const along = (x: number): number => 10 * x;
  const table = tableOf({ x: count(20), y: count(20) }, 4);
  const series = seriesOf(table, { along });

  const [older, kept] = segmentsOf(series);

  expect(extentOf(series)?.to).toBe(190);
  expect(kept?.x).toEqual(Float64Array.of(160, 170, 180, 190));
  expect(older?.x[1]).toBe(10 * (segmentsOf(seriesOf(table))[0]?.x[1] ?? NaN));
  expect(olderRows(series, { from: 50, to: 80 })).toEqual(
    olderRows(seriesOf(table), { from: 5, to: 8 })
  );
});
