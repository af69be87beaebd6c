import { beforeEach, describe, expect, it, vi } from 'vitest';
import { paretoOf } from '../src/run_comparison/pareto.js';
import { runComparison } from '../src/run_comparison/view.js';
import { staticResult } from '../src/static_model.js';
import { FakeModel, shownIn } from './fake_model.js';
import { HOSTILE, markupOf } from './hostile.js';
import { charts } from './no_chart.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));

function curve(more: object = {}): object {
  return {
    ...{ metric: 'loss', step: [0, 10], time_s: [1, 2], usd: [] },
    ...{ value: [3, null], low: [], high: [], num_values: 2, num_finite: 1 },
    ...more
  };
}

function run(label: string, lr: number, more: object = {}): object {
  return {
    ...{ name: `digits-${label}`, label, problem: '', evidence: 'measured' },
    ...{
      samples_per_step: 8,
      texts: { state: 'Completed' },
      curves: [curve()]
    },
    numbers: { 'param.lr': lr, 'metric.loss': 1 / lr, cost_usd: lr },
    ...more
  };
}

function comparison(...runs: readonly object[]): Record<string, unknown> {
  return {
    ...{ version: 1, kind: 'run-comparison', runs, num_left_out: 0 },
    ...{ unknown: [], metrics: ['loss', 'accuracy'] },
    differences: [
      {
        ...{ section: 'job', name: 'hyperparameters.lr' },
        values: runs.map((_, place) => String(place))
      }
    ]
  };
}

describe('runs beside each other', () => {
  let el: HTMLElement;
  const show = (...runs: readonly object[]): FakeModel => {
    const model = new FakeModel({ comparison: comparison(...runs) });
    shownIn(el, model, runComparison);
    return model;
  };
  const choose = (label: string, value: string): void => {
    const found = [...el.querySelectorAll('label')].find(
      one => one.textContent === label
    );
    const control = el.querySelector<HTMLSelectElement>(
      `[id='${found?.htmlFor}']`
    );
    if (control !== null) {
      control.value = value;
      control.dispatchEvent(new Event('change'));
    }
  };

  beforeEach(() => {
    charts.clear();
    el = document.createElement('div');
  });

  it('say what differs and draw a metric of each, by letter', () => {
    show(run('a', 1), run('b', 2));

    expect(el.textContent).toContain('2 runs; they differ in lr.');
    const drawn = charts.get('loss') ?? [];
    expect(drawn.map(({ label }) => label)).toEqual(['A a', 'B b']);
    expect([...(drawn[0]?.table.column('value') ?? [])]).toEqual([3, NaN]);
    expect(el.textContent).toContain('A: 1 of 2 values are no finite numbers.');
  });

  it('tell the last value of each metric beside what differs', () => {
    show(run('a', 1), run('b', 0.25));
    const rows = [...el.querySelectorAll('tbody tr')].map(row =>
      [...row.children].map(cell => cell.textContent)
    );

    expect(rows).toContainEqual(['last value', 'loss', '1', '4']);
    expect(rows).toContainEqual([
      'last value',
      'accuracy',
      'unknown',
      'unknown'
    ]);
  });

  it('count samples, and name the runs whose axis is not known', () => {
    show(run('a', 1), run('b', 2, { samples_per_step: null }));

    choose('Horizontal axis', 'samples');

    const drawn = charts.get('loss') ?? [];
    expect(drawn.map(({ label }) => label)).toEqual(['A a']);
    expect([...(drawn[0]?.table.column('x') ?? [])]).toEqual([0, 80]);
    expect(el.textContent).toContain('this axis is not known of them: B.');
  });

  it('name the runs that did not log a metric', () => {
    show(run('a', 1), run('b', 2, { curves: [] }));

    expect(el.textContent).toContain('they did not log it: B.');
  });

  it('keep what was chosen when all metrics have come', () => {
    const model = show(run('a', 1), run('b', 2));
    choose('Metric', 'accuracy');
    const curves = [curve(), curve({ metric: 'accuracy' })];

    model.set('comparison', comparison(run('a', 1, { curves }), run('b', 2)));

    expect(charts.get('accuracy')).toHaveLength(1);
  });

  it('mark the best trade-offs once it is said what is better', () => {
    show(run('a', 1), run('b', 2), run('c', 3, { numbers: { cost_usd: 9 } }));
    expect(el.querySelectorAll('.smtc-compared-ring')).toHaveLength(0);
    expect(el.textContent).toContain('not known of them: C.');

    choose('Horizontally', 'less');
    choose('Vertically', 'less');

    expect(el.querySelectorAll('.smtc-compared-ring')).toHaveLength(2);
    choose('Vertically', 'more');
    expect(el.querySelectorAll('.smtc-compared-ring')).toHaveLength(1);
  });

  it('are gone through by arrow keys', () => {
    show(run('a', 1), run('b', 2));
    const points = el.querySelectorAll<SVGElement>('.smtc-compared-point');

    points[0]?.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'ArrowDown' })
    );

    expect(document.activeElement).toBe(points[1]);
    expect(points[1]?.getAttribute('aria-label')).toContain('B b: lr 2');
  });

  it('show no text as markup, and what cannot be read', () => {
    for (const text of HOSTILE) {
      el = document.createElement('div');
      show(run(text, 1, { problem: text }), run('b', 2));
      const tags = markupOf(el);
      const made = ['img', 'script', 'a', '@onerror', '@onload', '@href'];
      expect(made.filter(one => tags.has(one))).toEqual([]);
    }
  });

  it('are read out of a notebook', () => {
    const saved = staticResult(comparison(run('a', 1), run('b', 2)));

    expect(saved.view).toBe('run-comparison');
    expect(saved.view).toBe('run-comparison');
    shownIn(el, saved.model, runComparison);
    expect(el.textContent).toContain('they differ in lr');
  });
});

describe('the best trade-offs', () => {
  const points = [
    { x: 1, y: 3 },
    { x: 2, y: 2 },
    { x: 2, y: 3 }
  ];

  it('are those that none beats', () => {
    expect(paretoOf(points, 'less', 'less')).toEqual(points.slice(0, 2));
    expect(paretoOf(points, 'less', '')).toEqual([]);
  });

  it('are all of those that are equal', () => {
    const twice = [...points, { x: 1, y: 3 }];

    expect(paretoOf(twice, 'less', 'less')).toHaveLength(3);
  });
});
