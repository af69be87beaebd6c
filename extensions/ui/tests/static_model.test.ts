import { afterEach, describe, expect, it, vi } from 'vitest';
import comparisonInfo from '../../../tests/fixtures/comparison_info.json';
import planInfo from '../../../tests/fixtures/plan_info.json';
import runInfo from '../../../tests/fixtures/run_info.json';
import { Feed } from '../src/live/feed.js';
import { staticResult } from '../src/static_model.js';
import { viewNamed } from '../src/views.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));

const STEPS = {
  columns: ['step', 'time_s', 'step_time_s', 'data_wait_s', 'device'],
  num_rows: 5,
  width: 2,
  mean: [
    [0.5, 2.5, 4],
    [1, 3, 5],
    [0.2, 0.3, 0.4],
    [null, 0, 0],
    [null, null, null]
  ],
  low: [
    [0, 2, 4],
    [1, 3, 5],
    [0.1, 0.3, 0.4],
    [null, 0, 0],
    [null, null, null]
  ],
  high: [
    [1, 3, 4],
    [1, 3, 5],
    [9, 0.3, 0.4],
    [null, 0, 0],
    [null, null, null]
  ],
  last: [4, 5, 0.4, 0, null]
};
const COMPARISON = {
  version: 2,
  info: { ...comparisonInfo, ended: true },
  comparison: { verdict: 'so it is' },
  tables: { '0/steps': STEPS }
};

function shown(json: unknown): HTMLElement {
  const { view, model } = staticResult(json);
  const el = document.createElement('div');
  document.body.append(el);
  const state = viewNamed(view).initialize(model);
  viewNamed(view).render({ model, el, state });
  return el;
}

function buttons(el: HTMLElement): string[] {
  return [...el.querySelectorAll('button')]
    .filter(button => button.closest('[hidden]') === null)
    .map(button => button.textContent);
}

afterEach(() => {
  document.body.replaceChildren();
});

describe('a saved result', () => {
  it('fills the tables of its view, and keeps every spike', () => {
    const feed = new Feed(staticResult(COMPARISON).model);

    const table = feed.table('0/steps');
    expect(table?.numRows).toBe(5);
    expect(table?.olderBins().high[2]?.[0]).toBe(9);
    expect([...(table?.column('step_time_s') ?? [])]).toEqual([0.4]);
  });

  it('turns no text round, and steers nothing', () => {
    const sentence = 'It is \u202e3.1×\u202c faster\u0007.';

    const el = shown({
      ...COMPARISON,
      info: { ...COMPARISON.info, sentence }
    });

    expect(el.textContent).toContain('It is \ufffd3.1×\ufffd faster\ufffd.');
  });

  it('that is nested too deep is refused', () => {
    let deep: unknown = 0;
    for (let level = 0; level < 200; level += 1) {
      deep = [deep];
    }

    expect(() => staticResult({ ...COMPARISON, deep })).toThrow(
      /nested more than 100 levels/
    );
  });

  it('shows a comparison with its numbers to save, and nothing to stop', () => {
    const el = shown(COMPARISON);

    expect(el.textContent).toContain(comparisonInfo.sentence);
    expect(buttons(el)).toContain('Save as JSON');
    expect(buttons(el)).not.toContain('Stop');
  });

  it('shows a run without a log and without a Stop button', () => {
    const el = shown({ version: 1, info: runInfo, tables: { steps: STEPS } });

    expect(el.textContent).toContain(runInfo.job_name);
    expect(el.textContent).not.toContain('Nothing was printed.');
    expect(buttons(el)).not.toContain('Stop');
  });

  it('shows a plan, of which a cluster can be chosen without Python', () => {
    const el = shown(planInfo);

    expect(el.textContent).toContain(planInfo.sentence);
    const choices = el.querySelectorAll<HTMLElement>('tbody button');
    choices[choices.length - 1]?.click();
    expect(el.querySelectorAll('tr.smtc-plan-chosen')).toHaveLength(1);
  });

  it('says that it was saved while it went on', () => {
    const live = { ...runInfo, ended: false, state: 'InProgress' };

    const el = shown({ version: 1, info: live, tables: {} });

    expect(el.textContent).toContain('This was saved while it went on.');
    expect(buttons(el)).not.toContain('Stop');
  });

  it('of the first version shows its step times', () => {
    const [first] = comparisonInfo.launched;
    const times = { low: [0.1], high: [9], mean: [0.2] };
    const launches = [
      {
        job_name: first?.job_name,
        steps: 2,
        bin_steps: 2,
        step_time_s: times
      }
    ];
    const json = { ...COMPARISON, version: 1, tables: undefined, launches };
    const { model } = staticResult(JSON.parse(JSON.stringify(json)));

    const feed = new Feed(model);

    expect(feed.table('0/steps')?.olderBins().high[2]?.[0]).toBe(9);
  });

  it('of a later version is refused with what to do', () => {
    expect(() => staticResult({ ...COMPARISON, version: 3 })).toThrow(
      /version 3.*reads up to 2.*Update smtc_lab/s
    );
  });

  it('of numbers alone names the file that has the rest', () => {
    expect(() => staticResult({ schema_version: 1, clusters: [] })).toThrow(
      /numbers of a comparison alone.*comparison\.smtc\.json/s
    );
  });

  it('that is damaged is refused with the field and its value', () => {
    const torn = { ...STEPS, mean: [[1]] };

    expect(() =>
      staticResult({ ...COMPARISON, tables: { '0/steps': torn } })
    ).toThrow(/1 columns in mean.*needs 5/s);
  });
});
