import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { staticResult } from '../src/static_model.js';
import fixture from '../../../tests/fixtures/comparison_info.json';
import { buttonIn, FakeModel, shownIn, STEPS } from './fake_model.js';
import { charts } from './no_chart.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));

const INFO = {
  name: 'repeat-1',
  state: 'InProgress',
  question: 'How far does it scale?',
  launches: 3,
  launched: [{ job_name: 'train-r1', label: '1 GPU', state: 'Completed' }],
  notes: ['Only one device is here.']
};

let model: FakeModel;
let el: HTMLElement;
let dispose: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  charts.clear();
  model = new FakeModel({ info: INFO, beat: { number: 1, elapsed_s: null } });
  el = document.createElement('div');
  dispose = shownIn(el, model, 'repeat-monitor');
});

afterEach(() => {
  dispose();
  vi.useRealTimers();
});

describe('a study of a kind that another package brings', () => {
  it('shows its question, state, runs and messages', () => {
    expect(el.querySelector('h3')?.textContent).toBe('repeat-1');
    expect(el.querySelector('.smtc-badge')?.textContent).toBe('Running');
    expect(el.querySelector('.smtc-verdict')?.textContent).toBe(
      'How far does it scale?'
    );
    const [head, row] = el.querySelectorAll('tr');
    expect(head?.textContent).toBe('LaunchStateStepsName of the run');
    expect(row?.textContent).toBe('1 GPUCompleted0train-r1');
    expect(el.textContent).toContain('launch 1 of 3');
    expect(el.textContent).toContain('Only one device is here.');
    expect(el.textContent).not.toContain('Save as JSON');
  });

  it('draws the steps of its launches, each in a colour of its own', () => {
    const launched = [...INFO.launched, { label: '2 GPUs' }];
    model.change({ launched, sentence: 'So far, by 1.9.' });
    model.rows('0/steps', STEPS);
    model.rows('1/steps', STEPS);

    expect(el.querySelector('.smtc-verdict')?.textContent).toBe(
      'So far, by 1.9.'
    );
    expect(charts.get('Step time')).toMatchObject([
      { label: '1 GPU', color: 0 },
      { label: '2 GPUs', color: 1 }
    ]);
  });

  it('is stopped and opened as any other', () => {
    buttonIn(el, 'Stop').click();
    expect(el.textContent).toContain('Stop the study?');
    buttonIn(el, 'Stop it').click();
    expect(model.sent.at(-1)).toEqual({ type: 'stop' });

    vi.advanceTimersByTime(8_000);
    expect(el.textContent).toContain('StudyRun.open("repeat-1")');
  });

  it('is reopened from what was saved of it', () => {
    const saved = { version: 2, kind: 'repeat', info: INFO, tables: {} };

    const { view, name } = staticResult(saved);

    expect([view, name]).toEqual(['repeat-monitor', 'repeat-1']);
  });

  it('may tell all that a comparison tells', () => {
    model.set('info', fixture);

    expect(el.textContent).toContain(fixture.sentence);
    expect(el.querySelectorAll('.smtc-set-ups thead th')).toHaveLength(2);
  });

  it('shows no picture and no chart of a search that is over', () => {
    const launched = fixture.launched.map(each => ({ ...each, steps: 0 }));
    const info = { ...fixture, state: 'Completed', ended: true, launched };

    model.set('info', { ...info, rounds: 1 });
    expect(el.querySelectorAll('.smtc-pictures figure').length).toBe(2);
    expect(el.textContent).toContain('No charts: no launch took a step.');
    model.set('info', { ...info, rounds: 0 });
    expect(el.querySelectorAll('.smtc-pictures figure').length).toBe(0);
    expect(el.textContent).not.toContain('No charts');
  });

  it('speaks of no rounds where launches differ in what they try', () => {
    const launched = fixture.launched.map(launch => ({
      ...launch,
      set_up: null,
      round: null
    }));
    const info = { ...fixture, ended: false, rounds: 0, launched };
    dispose();
    charts.clear();
    el.replaceChildren();
    model = new FakeModel({ info, beat: { number: 1, elapsed_s: null } });
    dispose = shownIn(el, model, 'batch-size-monitor');

    expect(el.textContent).toContain('launch 3 of 8');
    expect(el.textContent).not.toContain('parity check');
    expect(el.textContent).not.toContain('Round');
    expect(charts.size).toBe(0);
  });
});
