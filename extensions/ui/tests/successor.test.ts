import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  FOLLOW_EVENT,
  type IFollowDetail
} from '../src/monitor/follow_event.js';
import wire from '../../../tests/fixtures/run_info.json';
import { buttonIn, FakeModel, shownIn } from './fake_model.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));
vi.mock('../src/charts/heat_map.js', async () => await import('./no_chart.js'));

function modelOf(fields: Record<string, unknown>): FakeModel {
  return new FakeModel({
    info: { ...wire, ended: false, reason: '', ...fields },
    log: { lines: [], unfinished: [], leftOut: 0, silent: [] },
    beat: { number: 1, elapsed_s: 3 },
    stop_problem: ''
  });
}

describe('a view whose kernel is silent', () => {
  let kernel: FakeModel;
  let server: FakeModel;
  let el: HTMLElement;
  let dispose: () => void;
  let asked: IFollowDetail[];
  const end = vi.fn();
  const answer = (event: Event): void => {
    const { detail } = event as CustomEvent<IFollowDetail>;
    asked.push(detail);
    detail.begun(end);
  };
  const badge = (): string | undefined =>
    el.querySelector('.smtc-badge')?.textContent ?? undefined;

  beforeEach(() => {
    vi.useFakeTimers();
    end.mockReset();
    asked = [];
    kernel = modelOf({ state: 'InProgress' });
    server = modelOf({ state: 'Stopped', ended: true });
    el = document.createElement('div');
    dispose = shownIn(el, kernel, 'run-monitor');
    document.addEventListener(FOLLOW_EVENT, answer);
  });

  afterEach(() => {
    document.removeEventListener(FOLLOW_EVENT, answer);
    dispose();
    vi.useRealTimers();
  });

  it('asks the page once, and goes on with what the server tells', () => {
    vi.advanceTimersByTime(60_000);

    expect(asked.map(({ view, name }) => [view, name])).toEqual([
      ['run-monitor', 'train-r1']
    ]);
    asked[0]?.take(server);

    expect(el.querySelectorAll('.smtc-monitor')).toHaveLength(1);
    expect(badge()).toBe('Stopped');
    kernel.set('beat', { number: 2, elapsed_s: 90 });
    kernel.change({ state: 'InProgress' });
    expect(badge()).toBe('Stopped');
    expect(end).not.toHaveBeenCalled();
  });

  it('asks again after what could not be answered', () => {
    vi.advanceTimersByTime(8000);
    asked[0]?.fail(); // the code for it did not load: the server was gone
    vi.advanceTimersByTime(3000);

    expect(asked).toHaveLength(2);
    asked[1]?.take(server);
    expect(badge()).toBe('Stopped');
  });

  it('stops by the server', () => {
    server = modelOf({ state: 'InProgress' });
    vi.advanceTimersByTime(8000);
    asked[0]?.take(server);

    buttonIn(el, 'Stop').click();
    buttonIn(el, 'Stop it').click();

    expect(server.sent).toContainEqual({ type: 'stop' });
    expect(kernel.sent).not.toContainEqual({ type: 'stop' });
  });

  it('stops by the server what a kernel that is gone was asked to stop', () => {
    server = modelOf({ state: 'InProgress' });
    buttonIn(el, 'Stop').click();
    buttonIn(el, 'Stop it').click();
    expect(kernel.sent).toContainEqual({ type: 'stop' });

    vi.advanceTimersByTime(8000);
    asked[0]?.take(server);

    expect(server.sent).toContainEqual({ type: 'stop' });
  });

  it('goes on asking what it asked when the server takes over', () => {
    document.body.append(el);
    server = modelOf({ state: 'InProgress' });
    buttonIn(el, 'Stop').click();

    vi.advanceTimersByTime(8000);
    asked[0]?.take(server);

    expect(document.activeElement).toBe(buttonIn(el, 'Stop it'));
    buttonIn(el, 'Stop it').click();
    expect(server.sent).toContainEqual({ type: 'stop' });
    el.remove();
  });

  it('stops nothing by the server that the kernel could not stop', () => {
    server = modelOf({ state: 'InProgress' });
    buttonIn(el, 'Stop').click();
    buttonIn(el, 'Stop it').click();
    kernel.set('stop_problem', 'It is not yours.');

    vi.advanceTimersByTime(8000);
    asked[0]?.take(server);

    expect(server.sent).not.toContainEqual({ type: 'stop' });
  });

  it('asks no longer when the kernel is heard again', () => {
    vi.advanceTimersByTime(8000);
    kernel.set('beat', { number: 2, elapsed_s: 11 });

    expect(end).toHaveBeenCalledTimes(1);
    expect(badge()).toBe('Running');
  });

  it('lets go of the server when it goes away', () => {
    vi.advanceTimersByTime(8000);
    asked[0]?.take(server);

    dispose();

    expect(end).toHaveBeenCalledTimes(1);
    expect(el.childNodes).toHaveLength(0);
    expect(server.numCallbacks).toBe(0);
  });
});
