import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RequestError } from '../src/connection/request_error.js';
import { Stream } from '../src/connection/stream.js';
import type { IWatch } from '../src/tokens.js';
import { FakeSocket, TEXTS } from './kit.js';

const VERSION = '1.2.3';

let sockets: FakeSocket[];
let answer: () => Promise<unknown>;
let stream: Stream;

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  answer = () => Promise.resolve({ version: VERSION, protocol: 1 });
  stream = new Stream({
    request: () => answer(),
    openSocket: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    version: VERSION,
    texts: TEXTS
  });
});

afterEach(() => {
  vi.useRealTimers();
});

/**
 * Watch a run and let the connection open.
 */
async function watching(name = 'run-1'): Promise<IWatch> {
  const model = stream.watch('run-monitor', name);
  model.resume();
  await opened();
  return model;
}

async function opened(): Promise<FakeSocket> {
  await vi.advanceTimersByTimeAsync(0);
  const socket = sockets.at(-1) as FakeSocket;
  socket.onopen?.();
  return socket;
}

describe('the connection', () => {
  it('is not made before something is watched', () => {
    stream.watch('run-monitor', 'run-1');
    stream.connect();

    expect(stream.state).toBe('idle');
    expect(sockets).toHaveLength(0);
  });

  it('is one for all that is watched', async () => {
    await watching('run-1');
    stream.watch('comparison-monitor', 'c-1').resume();

    expect(sockets).toHaveLength(1);
    expect(sockets[0]?.sent).toEqual([
      { type: 'watch', id: 1, view: 'run-monitor', name: 'run-1' },
      { type: 'watch', id: 2, view: 'comparison-monitor', name: 'c-1' }
    ]);
  });

  it('closes some time after nothing is watched any more', async () => {
    const model = await watching();
    model.pause();
    expect(sockets[0]?.sent.at(-1)).toEqual({ type: 'unwatch', id: 1 });
    await vi.advanceTimersByTimeAsync(10_000);

    expect(sockets[0]?.isClosed).toBe(true);
    expect(stream.state).toBe('idle');
  });

  it('stays open when something is watched again soon', async () => {
    const model = await watching();
    model.pause();
    model.resume();
    await vi.advanceTimersByTimeAsync(60_000);

    expect(sockets[0]?.isClosed).toBe(false);
    expect(sockets[0]?.sent.at(-1)).toMatchObject({ type: 'watch', id: 2 });
  });

  it('is made again after a cut, and watches the same', async () => {
    await watching();
    sockets[0]?.onclose?.();
    expect(stream.state).toBe('cut');
    expect(stream.problem?.message).toMatch(/Runs go on/);
    await vi.advanceTimersByTimeAsync(1_000);
    await opened();

    expect(stream.state).toBe('connected');
    expect(stream.problem).toBeNull();
    expect(sockets[1]?.sent).toEqual([
      { type: 'watch', id: 1, view: 'run-monitor', name: 'run-1' }
    ]);
  });

  it('is tried again and again while the server is gone, ever less often', async () => {
    await watching();
    const asked = vi.fn(() => Promise.reject(new RequestError(null, '')));
    answer = asked;
    sockets[0]?.onclose?.();
    await vi.advanceTimersByTimeAsync(10_000);
    const early = asked.mock.calls.length;
    await vi.advanceTimersByTimeAsync(120_000);
    asked.mockClear();
    await vi.advanceTimersByTimeAsync(60_000);

    expect(early).toBeGreaterThanOrEqual(3);
    expect(asked.mock.calls.length).toBeLessThanOrEqual(4);
    expect(asked.mock.calls.length).toBeGreaterThanOrEqual(1);
  });

  it('tells a server that is gone behind a proxy as one that does not answer', async () => {
    for (const status of [424, 502, 503, 504]) {
      answer = () => Promise.reject(new RequestError(status, 'a page'));
      stream.watch('run-monitor', 'run-1').resume();
      stream.connect();
      await vi.advanceTimersByTimeAsync(0);

      expect(stream.problem?.message).toContain('does not answer');
      expect(stream.state).toBe('cut');
      await vi.advanceTimersByTimeAsync(40_000);
    }
  });

  it('rests while nobody looks at the page', async () => {
    await watching();
    stream.sleep();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(sockets[0]?.isClosed).toBe(true);
    expect(sockets).toHaveLength(1);
    stream.wake();
    await opened();

    expect(sockets[1]?.sent[0]).toMatchObject({ type: 'watch', name: 'run-1' });
  });
});

describe('the diagnosis', () => {
  it.each([
    [404, /not running/, 'jupyter server extension enable'],
    [403, /refuses/, null],
    [200, /proxy/, null]
  ])('of status %i does not try again', async (status, words, command) => {
    answer = () => Promise.reject(new RequestError(status, ''));
    stream.watch('runs').resume();
    await vi.advanceTimersByTimeAsync(600_000);

    expect(stream.state).toBe('refused');
    expect(stream.problem?.message).toMatch(words);
    expect(stream.problem?.command ?? '').toContain(command ?? '');
    expect(sockets).toHaveLength(0);
  });

  it('tells another protocol, and does not connect', async () => {
    answer = () => Promise.resolve({ version: '9.0.0', protocol: 9 });
    stream.watch('runs').resume();
    await vi.advanceTimersByTimeAsync(0);

    expect(stream.state).toBe('refused');
    expect(stream.problem?.message).toMatch(/version 1\.2\.3.*9\.0\.0/);
    expect(sockets).toHaveLength(0);
  });

  it('tells another version, and connects all the same', async () => {
    answer = () => Promise.resolve({ version: '1.2.4', protocol: 1 });
    await watching();

    expect(stream.state).toBe('connected');
    expect(stream.problem?.message).toMatch(/1\.2\.4/);
  });

  it('tells a proxy that lets no WebSocket through', async () => {
    stream.watch('runs').resume();
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]?.onclose?.();

    expect(stream.state).toBe('cut');
    expect(stream.problem?.message).toMatch(/"Upgrade"/);
  });

  it('asks anew when the user does, and forgets what was wrong', async () => {
    const well = answer;
    answer = () => Promise.reject(new RequestError(404, ''));
    stream.watch('runs').resume();
    await vi.advanceTimersByTimeAsync(0);
    answer = well;
    stream.connect();
    await opened();

    expect(stream.state).toBe('connected');
    expect(stream.problem).toBeNull();
  });
});

describe('a watch', () => {
  it('has values once they came, and tells which changed', async () => {
    const model = await watching();
    const changed = vi.fn();
    model.on('change:beat', changed);
    sockets[0]?.take({ type: 'set', id: 1, values: { info: 1, beat: 2 } });

    expect(model.isReady).toBe(true);
    expect([model.get('info'), model.get('beat')]).toEqual([1, 2]);
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it('is told why the server cannot tell', async () => {
    const model = await watching();
    sockets[0]?.take({ type: 'problem', id: 1, message: 'No such run.' });
    expect(model.problem).toBe('No such run.');
    sockets[0]?.take({ type: 'set', id: 1, values: {} });

    expect(model.problem).toBe('');
  });

  it('asks for nothing that the begin of a watch brings anyway', async () => {
    const model = stream.watch('run-monitor', 'run-1');
    model.resume();
    model.send({ type: 'resync' });
    const socket = await opened();
    model.send({ type: 'resync' });
    expect(socket.sent.map(({ type }) => type)).toEqual(['watch']);
    socket.take({ type: 'set', id: 1, values: {} });
    model.send({ type: 'resync', table: 'steps' });

    expect(socket.sent.at(-1)).toEqual({
      type: 'message',
      id: 1,
      content: { type: 'resync', table: 'steps' }
    });
  });

  it('stops a run after the cut in which it was asked to', async () => {
    const model = await watching();
    sockets[0]?.onclose?.();
    model.send({ type: 'stop' });
    await vi.advanceTimersByTimeAsync(1_000);
    await opened();

    expect(sockets[1]?.sent.map(({ type }) => type)).toEqual([
      'watch',
      'message'
    ]);
  });

  it('that cannot read its data leaves the others alone', async () => {
    const said = vi.spyOn(console, 'error').mockReturnValue();
    const model = await watching();
    const other = stream.watch('run-monitor', 'run-2');
    other.resume();
    model.on('change:info', () => {
      throw new Error('info is none');
    });
    sockets[0]?.take({ type: 'set', id: 1, values: { info: 1 } });
    sockets[0]?.take({ type: 'set', id: 2, values: { info: 2 } });

    expect(model.problem).toBe('info is none');
    expect(other.get('info')).toBe(2);
    expect(said).toHaveBeenCalledTimes(1);
  });

  it('hears nothing any more after its end', async () => {
    const model = await watching();
    const heard = vi.fn();
    model.on('change:info', heard);
    model.dispose();
    sockets[0]?.take({ type: 'set', id: 1, values: { info: 1 } });

    expect(heard).not.toHaveBeenCalled();
  });
});

describe('the list of runs', () => {
  it('is watched once for all who follow it', async () => {
    const one = stream.runs.follow();
    const other = stream.runs.follow();
    const socket = await opened();
    one.dispose();
    expect(socket.sent).toEqual([{ type: 'watch', id: 1, view: 'runs' }]);
    other.dispose();

    expect(socket.sent.at(-1)).toEqual({ type: 'unwatch', id: 1 });
  });
});
