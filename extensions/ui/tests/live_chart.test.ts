import { expect, it } from 'vitest';
import { liveChart } from '../src/live_chart.js';
import { FakeModel } from './fake_model.js';

const TRAITS: Readonly<Record<string, unknown>> = {
  title: 'Loss',
  x_label: 'step',
  y_label: 'loss',
  x_unit: 'count',
  y_unit: 'number',
  series: [
    { label: '<b>a</b>', evidence: 'measured' },
    { label: 'b', evidence: 'emulated' }
  ]
};

function receive(model: FakeModel, first: number): void {
  const columns = ['x', 'y0', 'y1'];
  const message = { type: 'rows', table: 'rows', columns, first };
  model.tell('msg:custom', message, [
    new DataView(Float64Array.of(first, 1, 2).buffer)
  ]);
}

function namesIn(element: HTMLElement): (string | null)[] {
  const names = element.querySelectorAll('.smtc-chart-legend button');
  return [...names].map(name => name.textContent);
}

it('shows the series when the first row comes, in all places that show it', () => {
  const model = new FakeModel({ ...TRAITS });
  const state = liveChart.initialize(model);
  const early = document.createElement('div');
  liveChart.render({ model, el: early, state });
  expect(namesIn(early)).toEqual([]);
  receive(model, 0);
  receive(model, 1);
  const late = document.createElement('div');
  liveChart.render({ model, el: late, state });

  for (const place of [early, late]) {
    expect(namesIn(place)).toEqual(['<b>a</b> measured', 'b emulated']);
  }
});

it('leaves nothing behind', () => {
  const model = new FakeModel({ ...TRAITS });
  const state = liveChart.initialize(model);
  const el = document.createElement('div');
  const leave = liveChart.render({ model, el, state });
  leave();
  receive(model, 0);

  expect(el.children).toHaveLength(0);
});

it('names the unit that it refuses', () => {
  const model = new FakeModel({ ...TRAITS, y_unit: 'hours' });
  const state = liveChart.initialize(model);

  expect(() =>
    liveChart.render({ model, el: document.createElement('div'), state })
  ).toThrow(/y_unit="hours".*USD/);
});
