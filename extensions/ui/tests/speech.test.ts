import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import comparison from '../../../tests/fixtures/comparison_info.json';
import run from '../../../tests/fixtures/run_info.json';
import { FakeModel, shownIn } from './fake_model.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));
vi.mock('../src/charts/heat_map.js', async () => await import('./no_chart.js'));

let model: FakeModel;
let el: HTMLElement;
let dispose: () => void;

function show(view: string, info: object): void {
  model = new FakeModel({
    info,
    log: { lines: [], unfinished: [], leftOut: 0, silent: [] },
    result: '',
    beat: { number: 1, elapsed_s: 3 },
    stop_problem: ''
  });
  el = document.createElement('div');
  dispose = shownIn(el, model, view);
  vi.advanceTimersByTime(0);
}

function spoken(): string {
  return el.querySelector('header .smtc-sr')?.textContent ?? '';
}

function badge(): string {
  return el.querySelector('header .smtc-badge')?.textContent ?? '';
}

/**
 * Return the texts of all live regions of the header that say something.
 */
function live(): string[] {
  return [...el.querySelectorAll('header :is([role=status], [role=alert])')]
    .map(region => region.textContent)
    .filter(text => text !== '');
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  dispose();
  vi.useRealTimers();
});

describe('what is spoken of a run', () => {
  beforeEach(() => {
    show('run-monitor', {
      ...run,
      state: 'InProgress',
      ended: false,
      reason: ''
    });
  });

  it('is the state that its badge shows', () => {
    expect(badge()).toBe('Running');
    expect(spoken()).toBe('Run train-r1: Running. ');
  });

  it('is why it failed, as it stands on the screen', () => {
    model.change({ state: 'Failed', ended: true, reason: 'It broke.' });
    vi.advanceTimersByTime(0);

    const shown = el.querySelector('header .smtc-problem')?.textContent ?? '';
    expect(shown).toContain('It broke.');
    expect(spoken()).toBe(`Run train-r1: Failed. ${shown}`);
  });

  it('is no more of a long reason than is seen at first', () => {
    const reason = Array.from({ length: 40 }, (_, line) => `at ${line}`);

    model.change({ state: 'Failed', ended: true, reason: reason.join('\n') });
    vi.advanceTimersByTime(0);

    const shown = el.querySelector('header .smtc-problem span');
    expect(spoken()).toBe(`Run train-r1: Failed. ${shown?.textContent}`);
  });

  it('is once that no news comes, and its state again when some does', () => {
    vi.advanceTimersByTime(8_000);
    const [said, ...others] = live();
    expect(said).toContain('No news');
    expect(others).toEqual([]);

    vi.advanceTimersByTime(20_000);
    expect(badge()).toBe('Unknown');
    expect(live()).toEqual([said]);

    model.set('beat', { number: 2, elapsed_s: 31 });
    vi.advanceTimersByTime(0);
    expect(badge()).toBe('Running');
    expect(spoken()).toBe('Run train-r1: Running. ');
  });

  it('is a problem once, and nothing of it when it is mended', async () => {
    const alert = el.querySelector('header [role=alert]') as HTMLElement;
    model.change({ problem: 'A file of it is damaged.' });
    expect(alert.textContent).toBe('A file of it is damaged.');
    const changes = vi.fn();
    const observer = new MutationObserver(changes);
    observer.observe(alert, { subtree: true, childList: true });

    model.change({ steps: 42 });
    vi.advanceTimersByTime(3_000);
    await Promise.resolve();
    expect(changes).not.toHaveBeenCalled();

    model.change({ problem: '' });
    expect(live().join()).not.toContain('damaged');
    expect(alert.hidden).toBe(true);
  });
});

describe('what is spoken of a comparison', () => {
  it('is its sentence while it runs, and the reason too once it has ended', () => {
    show('comparison-monitor', comparison);
    expect(spoken()).toBe(
      el.querySelector('.smtc-verdict-sentence')?.textContent
    );

    model.change({
      state: 'Failed',
      ended: true,
      reason: 'Launch 2 failed.',
      sentence: 'There is no verdict.'
    });
    vi.advanceTimersByTime(0);

    expect(spoken()).toBe('Failed. Launch 2 failed. There is no verdict.');
    expect(badge()).toBe('Failed');
    expect(el.querySelector('header .smtc-problem')?.textContent).toBe(
      'Launch 2 failed.'
    );
  });
});
