import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import comparison from '../../../tests/fixtures/comparison_info.json';
import tuning from '../../../tests/fixtures/tuning_info.json';
import { INSERT_EVENT, type IInsertDetail } from '../src/forms/insert_event.js';
import { PARTS } from '../src/load_part.js';
import { TuningSection } from '../src/tuning/section.js';
import { buttonIn, FakeModel, shownIn } from './fake_model.js';
import { HOSTILE, markupOf } from './hostile.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));

let model: FakeModel;
let el: HTMLElement;
let dispose: () => void;

/**
 * Return what a model is told of a search with other values.
 */
function told(changes: object = {}): Record<string, unknown> {
  const values = { ...tuning, ...changes };
  const sentence = 'Estimated from 20 trials: lr 90 %.';
  return { sections: [{ name: 'tuning', sentence, rows: [], values }] };
}

async function show(changes: object = {}, info: object = {}): Promise<void> {
  model = new FakeModel({
    info: { ...comparison, ended: false, ...info, ...told(changes) },
    resume_problem: '',
    beat: { number: 1, elapsed_s: null }
  });
  el = document.createElement('div');
  dispose = shownIn(el, model, 'tuning-monitor');
  await new Promise(resolve => setTimeout(resolve));
}

const figure = (title: string): HTMLElement =>
  [...el.querySelectorAll<HTMLElement>('.smtc-tuning-chart')].find(
    each => each.querySelector('figcaption')?.textContent === title
  ) as HTMLElement;

beforeEach(() => {
  PARTS['tuning-part'] = () => Promise.resolve({ TuningSection });
});

afterEach(() => {
  dispose();
  delete PARTS['tuning-part'];
});

describe('a search of hyperparameters', () => {
  it('tells the best so far over trials, and over dollars', async () => {
    await show();
    const best = figure('Best so far');
    const words = best.querySelector('svg')?.getAttribute('aria-label');
    expect(words).toMatch(/^Best loss so far: 0\.\d+ by trial \d+, after 24/);
    expect(best.textContent).toContain('trials that have ended →');

    buttonIn(best, 'Dollars').click();

    expect(best.textContent).toContain('USD spent →');
    expect(best.querySelectorAll('.smtc-tuning-budget-line')).toHaveLength(1);
    expect(buttonIn(best, 'Dollars').getAttribute('aria-pressed')).toBe('true');
  });

  it('draws a line, a point and a row for each trial', async () => {
    await show();
    const judged = tuning.trials.filter(({ objective }) => objective !== null);

    const all = figure('All hyperparameters together');
    expect(all.querySelectorAll('polyline')).toHaveLength(judged.length);
    expect(all.querySelector('svg')?.getAttribute('aria-label')).toMatch(
      /^20 trials through 3 hyperparameters; the best one is Trial \d+: lr /
    );
    const slices = figure('Each hyperparameter by itself');
    expect(slices.querySelectorAll('svg')).toHaveLength(3);
    expect(slices.querySelectorAll('circle')).toHaveLength(3 * judged.length);
    expect(slices.textContent).toContain('estimated');
    expect(el.querySelectorAll('.smtc-tuning tbody tr')).toHaveLength(
      tuning.trials.length + tuning.pareto.filter(one => one.is_best).length
    );
  });

  it('says which trials were stopped and why, and crosses them', async () => {
    await show();
    const curves = figure('Trials while they were trained');

    expect(curves.textContent).toContain(
      'It was not among the best third. (trials 3, 7'
    );
    expect(curves.querySelectorAll('path.smtc-tuning-end').length).toBe(
      tuning.curves.filter(({ trial }) => trial % 4 === 3 || trial % 6 === 5)
        .length
    );
  });

  it('launches a predicted point by a cell', async () => {
    await show();
    let code = '';
    const insert = (event: Event): void => {
      ({ code } = (event as CustomEvent<IInsertDetail>).detail);
      event.preventDefault();
    };
    document.addEventListener(INSERT_EVENT, insert);
    const which = figure('Which model, on which machines, for how much');
    const [launch] = which.querySelectorAll('button');

    launch?.click();
    document.removeEventListener(INSERT_EVENT, insert);
    await Promise.resolve();

    expect(code).toContain('lab.tuning_job(');
    expect(launch?.getAttribute('aria-label')).toContain('Launch trial');
    expect(which.querySelector('[role="status"]')?.textContent).toContain(
      'was inserted'
    );
  });

  it('goes on with more trials, and says why it cannot', async () => {
    await show({}, { ended: true, state: 'Stopped' });
    const box = el.querySelector('.smtc-tuning-resume') as HTMLElement;
    const [trials] = box.querySelectorAll('input');
    (trials as HTMLInputElement).value = '40';

    buttonIn(box, 'Resume').click();

    expect(model.sent.at(-1)).toEqual({
      ...{ type: 'resume', max_jobs: 40, budget_usd: null }
    });
    expect(buttonIn(box, 'Resume').disabled).toBe(true);
    model.set('resume_problem', 'It goes on already.');
    expect(box.textContent).toContain('It goes on already.');
    expect(buttonIn(box, 'Resume').disabled).toBe(false);
  });

  it('calls Stop a pause while it goes on, and resumes nothing then', async () => {
    await show();

    expect(el.textContent).toContain('Stop is a pause');
    expect(el.querySelector<HTMLElement>('.smtc-tuning-resume')?.hidden).toBe(
      true
    );
  });

  it('shows the trials alone where a price is unknown', async () => {
    const soFar = tuning.so_far.map(one => ({ ...one, usd: null }));
    await show({ usd: null, so_far: soFar });

    const best = figure('Best so far');
    expect(buttonIn(best, 'Dollars').parentElement?.hidden).toBe(true);
    expect(best.textContent).toContain('A price is unknown');
    expect(el.textContent).toContain('unknown of $2.00 spent');
  });

  it('says that no trial has begun, and that all have failed', async () => {
    const none = { trials: [], so_far: [], curves: [], pareto: [] };
    await show({ ...none, begun: 0, ended: 0, usd: null });
    expect(el.textContent).toContain('No trial has begun yet.');
    const hidden = [...el.querySelectorAll<HTMLElement>('.smtc-tuning-chart')];
    expect(hidden.every(each => each.hidden)).toBe(true);

    const failed = tuning.trials.filter(({ state }) => state === 'Failed');
    model.change(told({ ...none, trials: failed }));

    expect(el.textContent).toContain('No trial has ended with a loss yet.');
    expect(el.textContent).toContain('4 trials failed. Trial 5: Out of memory');
  });

  it('says why its pictures cannot be loaded', async () => {
    PARTS['tuning-part'] = () => Promise.reject(new Error('no way there'));
    await show();

    expect(el.textContent).toContain('no way there');
    expect(el.textContent).toContain('Estimated from 20 trials');
  });

  it('says what is wrong with what it is told, beside the rest', async () => {
    await show();

    model.change(told({ usd: 'much' }));
    await Promise.resolve();

    expect(el.textContent).toContain('A message has TuningInfo.usd="much"');
    expect(el.textContent).toContain('Launches');
  });

  it('makes no markup of hostile names', async () => {
    const searched = tuning.searched.map(one => ({
      ...one,
      name: HOSTILE.join(' ')
    }));
    await show({ objective: HOSTILE.join(' '), searched });

    expect([...markupOf(el)]).not.toContain('img');
    expect(el.textContent).not.toContain('undefined');
  });
});
