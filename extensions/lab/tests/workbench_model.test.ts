import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RequestError } from '../src/connection/request_error.js';
import { SocketModel } from '../src/connection/socket_model.js';
import { WorkbenchModel } from '../src/designer/workbench_model.js';
import type { IStream } from '../src/tokens.js';

const texts = { __: (text: string) => text, _n: (text: string) => text };

/**
 * A stream whose server answers as it is told.
 */
class FakeStream {
  readonly asked: [string, unknown][] = [];
  readonly watched: SocketModel[] = [];
  answers: Record<string, (body: unknown) => unknown> = {
    catalog: () => [],
    'set-ups': body => ({
      value: (body as { value: unknown }).value ?? ['demo'],
      problems: [[]],
      jobs: ['runnable'],
      cells: ['lab.launch(job)'],
      code: 'lab.launch_comparison(jobs)'
    }),
    runs: () => ({ name: 'train-1' })
  };

  async request(path: string, body?: unknown): Promise<unknown> {
    this.asked.push([path, body]);
    return Promise.resolve(this.answers[path]?.(body));
  }

  watch(view: string, name?: string): SocketModel {
    const host = { begin: () => 1, end: vi.fn(), send: vi.fn() };
    const model = new SocketModel(view, name, host);
    this.watched.push(model);
    return model;
  }

  of(path: string): unknown[] {
    return this.asked.filter(([to]) => to === path).map(([, body]) => body);
  }
}

let stream: FakeStream;

async function opened(kept: unknown = null): Promise<WorkbenchModel> {
  return WorkbenchModel.open(stream as unknown as IStream, 3, kept, texts);
}

beforeEach(() => {
  vi.useFakeTimers();
  stream = new FakeStream();
});

afterEach(() => {
  vi.useRealTimers();
  Signal.clearData(stream);
});

describe('the workbench without a kernel', () => {
  it('begins with what was typed before, else with the pair of the demo', async () => {
    expect((await opened()).get('value')).toEqual(['demo']);
    expect((await opened(['mine'])).get('value')).toEqual(['mine']);
  });

  it('asks what is wrong once, after the last key', async () => {
    const model = await opened();
    const told = vi.fn();
    model.on('change:problems', told);
    for (const typed of ['a', 'ab', 'abc']) {
      model.set('value', [typed]);
      model.save_changes();
    }

    await vi.runAllTimersAsync();

    expect(stream.of('set-ups').slice(1)).toEqual([
      { value: ['abc'], rounds: 3 }
    ]);
    expect(told).toHaveBeenCalledTimes(1);
    expect(model.cellOf(0)).toBe('lab.launch(job)');
  });

  it('drops an answer that is older than another question', async () => {
    const model = await opened();
    let answerFirst: (answer: unknown) => void = () => undefined;
    stream.answers['set-ups'] = () =>
      new Promise(resolve => {
        answerFirst = resolve;
      });
    model.save_changes();
    await vi.runAllTimersAsync();
    stream.answers['set-ups'] = () => ({ code: 'new' });
    model.save_changes();
    await vi.runAllTimersAsync();

    answerFirst({ code: 'old' });
    await vi.runAllTimersAsync();

    expect(model.get('code')).toBe('new');
  });

  it('runs what the server made runnable, and shows it once it is there', async () => {
    const model = await opened();
    const running = vi.fn();
    model.on('change:running', running);

    model.send({ type: 'run' });
    await vi.runAllTimersAsync();

    expect(stream.of('runs')).toEqual([
      { kind: 'comparison', jobs: ['runnable'], rounds: 3 }
    ]);
    expect(running).not.toHaveBeenCalled();
    stream.watched[0]?.takeValues({ info: { name: 'train-1' }, result: '' });
    expect(model.get('info')).toEqual({ name: 'train-1' });
    expect(model.get('running')).toBe('train-1');
  });

  it("tells the server's own words when nothing could be started", async () => {
    const model = await opened();
    stream.answers['runs'] = () => {
      throw new RequestError(400, 'train.py is not there. Give its path.');
    };

    model.send({ type: 'run' });
    await vi.runAllTimersAsync();

    expect(model.get('start_problem')).toBe(
      'train.py is not there. Give its path.'
    );
    expect(model.get('running')).toBe('');
  });

  it('says what is wrong when the server is gone', async () => {
    const model = await opened();
    stream.answers['set-ups'] = () => {
      throw new RequestError(null, '');
    };

    model.send({ type: 'run' });
    await vi.runAllTimersAsync();

    expect(model.get('start_problem')).toMatch(/server does not answer/);
    expect(stream.of('runs')).toEqual([]);
  });

  it('hands rows of what runs to its view', async () => {
    const model = await opened();
    const rows = vi.fn();
    model.on('msg:custom', rows);
    model.send({ type: 'run' });
    await vi.runAllTimersAsync();

    stream.watched[0]?.takeMessage({ type: 'rows' }, []);

    expect(rows).toHaveBeenCalledWith({ type: 'rows' }, []);
  });
});
