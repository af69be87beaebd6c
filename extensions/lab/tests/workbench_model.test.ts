import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import wire from '../../../tests/fixtures/environments.json';
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

function environments(state: string): object {
  return { ...wire, making: { state, sentence: '' } };
}

/**
 * Have checks of set-ups wait for their answers.
 *
 * @returns What answers each of them, in the order in which they were asked.
 */
function slowly(server: FakeStream): ((answer: unknown) => void)[] {
  const late: ((answer: unknown) => void)[] = [];
  server.answers['set-ups'] = () =>
    new Promise(resolve => {
      late.push(resolve);
    });
  return late;
}

let stream: FakeStream;

async function opened(
  kept: unknown = null,
  running = ''
): Promise<WorkbenchModel> {
  const server = stream as unknown as IStream;
  return WorkbenchModel.open(server, 3, kept, running, texts);
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

  it('brings the part about interruptions, and asks what it asks', async () => {
    const model = await opened();
    const brought = vi.fn();
    model.on('msg:custom', brought);
    stream.answers['spot-forecast'] = () => ({ asked: 'q-1' });

    model.send({ type: 'spot-part' });
    model.send({ type: 'spot-forecast', question: { asked: 'q-1', job: {} } });
    await vi.runAllTimersAsync();

    expect(brought).toHaveBeenCalledWith({
      type: 'spot-part',
      module: { spotSection: expect.any(Function) as unknown }
    });
    expect(stream.of('spot-forecast')).toEqual([{ asked: 'q-1', job: {} }]);
    expect(model.get('spot_answer')).toEqual({ asked: 'q-1' });
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

  it('runs what stood there though it is checked again, or typed, meanwhile', async () => {
    const model = await opened();
    const late = slowly(stream);
    stream.answers['environments'] = () => environments('idle');
    model.send({ type: 'run' });
    model.send({ type: 'environments' });
    await vi.advanceTimersByTimeAsync(0);
    model.set('rounds', 5);
    expect(late).toHaveLength(2);

    late[1]?.({ jobs: [], problems: [['No such script.']] });
    late[0]?.({ jobs: ['clicked'], problems: [[]] });
    await vi.runAllTimersAsync();

    expect(stream.of('runs')).toEqual([
      { kind: 'comparison', jobs: ['clicked'], rounds: 3 }
    ]);
    expect(model.get('problems')).toEqual([['No such script.']]);
  });

  it('says why nothing was started though it is checked again meanwhile', async () => {
    const model = await opened();
    const late = slowly(stream);
    const told = vi.fn();
    model.send({ type: 'run' });
    model.save_changes();
    await vi.runAllTimersAsync();
    model.on('change:start_problem', told);

    late[0]?.(Promise.reject(new RequestError(500, 'No room is left.')));
    await vi.runAllTimersAsync();

    expect(told).toHaveBeenCalledTimes(1);
    expect(model.get('start_problem')).toBe('No room is left.');
  });

  it('goes on saying why nothing was started when an older check is answered', async () => {
    const model = await opened();
    const late = slowly(stream);
    stream.answers['runs'] = () => {
      throw new RequestError(400, 'train.py is not there. Give its path.');
    };
    model.send({ type: 'run' });
    model.save_changes();
    await vi.runAllTimersAsync();
    late[0]?.({ jobs: ['clicked'], problems: [[]] });
    await vi.runAllTimersAsync();

    late[1]?.({ jobs: ['typed'], problems: [[]] });
    await vi.runAllTimersAsync();

    expect(model.get('start_problem')).toMatch(/train.py is not there/);
  });

  it('starts nothing once it is gone, and watches nothing', async () => {
    const model = await opened();
    model.send({ type: 'run' });
    model.dispose();
    await vi.runAllTimersAsync();
    expect(stream.of('runs')).toEqual([]);

    const other = await opened();
    stream.answers['runs'] = () => {
      other.dispose();
      return { name: 'train-1' };
    };
    other.send({ type: 'run' });
    await vi.runAllTimersAsync();

    expect(stream.of('runs')).toHaveLength(1);
    expect(stream.watched).toEqual([]);
  });

  it('finds the comparison again that ran before a reload', async () => {
    const model = await opened(null, 'train-1');
    expect(stream.watched.map(({ name }) => name)).toEqual(['train-1']);

    stream.watched[0]?.takeValues({ info: { name: 'train-1' }, result: '' });

    expect(model.get('running')).toBe('train-1');
    expect(stream.of('runs')).toEqual([]);
  });

  it('begins with none when that comparison is gone', async () => {
    const model = await opened(null, 'train-1');

    stream.watched[0]?.takeProblem('There is no comparison of that name.');

    expect(model.get('running')).toBe('');
    expect(model.get('start_problem')).toBe('');
    expect(stream.watched[0]?.isDisposed).toBe(true);
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

  it('forgets why nothing could be started once something else is typed', async () => {
    const model = await opened();
    stream.answers['runs'] = () => {
      throw new RequestError(400, 'train.py is not there. Give its path.');
    };
    model.send({ type: 'run' });
    await vi.runAllTimersAsync();
    expect(model.get('start_problem')).not.toBe('');

    model.set('value', []);
    model.save_changes();
    await vi.runAllTimersAsync();

    expect(model.get('start_problem')).toBe('');
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

  it('tells the environments, and what is wrong with them in mind', async () => {
    const model = await opened();
    stream.answers['environments'] = () => environments('idle');

    model.send({ type: 'environments' });
    await vi.runAllTimersAsync();

    expect(stream.of('environments')).toEqual([undefined]);
    expect(model.get('environments')).toEqual(environments('idle'));
    expect(stream.of('set-ups')).toHaveLength(2);
  });

  it('asks each second how far XLA is, until it is made', async () => {
    const model = await opened();
    const told = vi.fn();
    model.on('change:environments', told);
    stream.answers['environments'] = () => environments('making');

    model.send({ type: 'make-xla' });
    await vi.advanceTimersByTimeAsync(2500);
    expect(stream.of('environments')).toEqual([
      { make: 'xla' },
      undefined,
      undefined
    ]);
    expect(told).toHaveBeenCalledTimes(1);
    stream.answers['environments'] = () => environments('done');
    await vi.runAllTimersAsync();

    expect(stream.of('environments')).toHaveLength(4);
    expect(model.get('environments')).toEqual(environments('done'));
  });

  it('does not ask while nobody looks, and at once when somebody does', async () => {
    const model = await opened();
    stream.answers['environments'] = () => environments('making');
    model.send({ type: 'make-xla' });
    await vi.advanceTimersByTimeAsync(0);

    model.look(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stream.of('environments')).toHaveLength(1);
    model.look(true);
    await vi.advanceTimersByTimeAsync(0);

    expect(stream.of('environments')).toHaveLength(2);
    model.dispose();
    await vi.runAllTimersAsync();
    expect(stream.of('environments')).toHaveLength(2);
  });

  it("tells the server's own words when XLA may not be made", async () => {
    const model = await opened();
    stream.answers['environments'] = () => {
      throw new RequestError(403, 'Forbidden.');
    };

    model.send({ type: 'make-xla' });
    await vi.runAllTimersAsync();

    expect(model.get('environments')).toMatchObject({
      choices: [],
      making: { state: 'failed', sentence: 'Forbidden.' }
    });
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
