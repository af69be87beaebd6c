import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import {
  FOLLOW_EVENT,
  type IFollowDetail
} from '@smtc-lab/ui/monitor/follow_event.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SocketModel } from '../src/connection/socket_model.js';
import { answerFollowEvents } from '../src/live/follow_events.js';
import { LiveOutput, type ILiveHost } from '../src/live/live_output.js';
import { LIVE_MIME, WIDGET_MIME } from '../src/live/mimes.js';
import type { IProblem, IStream } from '../src/tokens.js';
import { TEXTS } from './kit.js';

const { initialize, render } = vi.hoisted(() => {
  // what Lumino's widgets ask of a page when they are loaded
  Object.assign(globalThis, { DragEvent: Event });
  return { initialize: vi.fn(), render: vi.fn(() => () => undefined) };
});

vi.mock('../src/dashboard/views.js', () => ({
  viewNamed: () => ({ initialize, render })
}));

class FakeStream {
  state = 'connected';
  problem: IProblem | null = null;
  readonly changed = new Signal<FakeStream, void>(this);
  readonly watched: SocketModel[] = [];

  watch(view: string, name?: string): SocketModel {
    const host = { begin: () => 1, end: vi.fn(), send: vi.fn() };
    const model = new SocketModel(view, name, host);
    this.watched.push(model);
    return model;
  }
}

let stream: FakeStream;
const connect = async (): Promise<IStream> =>
  Promise.resolve(stream as unknown as IStream);

beforeEach(() => {
  stream = new FakeStream();
  render.mockClear();
});

describe('a question of a view whose kernel is silent', () => {
  let leave: () => void;
  const take = vi.fn();
  const fail = vi.fn();
  let end: () => void = () => undefined;

  beforeEach(() => {
    leave = answerFollowEvents(connect);
    take.mockReset();
    fail.mockReset();
    document.body.replaceChildren();
  });

  afterEach(() => {
    leave();
  });

  async function ask(from: Element): Promise<void> {
    const detail: IFollowDetail = {
      view: 'run-monitor',
      name: 'train-1',
      take,
      fail,
      begun: given => {
        end = given;
      }
    };
    from.dispatchEvent(
      new CustomEvent(FOLLOW_EVENT, { bubbles: true, detail })
    );
    await vi.dynamicImportSettled();
    await Promise.resolve();
  }

  it('is answered with a model that has all values', async () => {
    await ask(document.body);
    const [watch] = stream.watched;
    expect([watch?.view, watch?.name]).toEqual(['run-monitor', 'train-1']);
    expect(take).not.toHaveBeenCalled();

    watch?.takeValues({ info: {} });
    watch?.takeValues({ info: {} });

    expect(take.mock.calls).toEqual([[watch]]);
    end();
    expect(watch?.isDisposed).toBe(true);
  });

  it('is not answered when the server does not know', async () => {
    await ask(document.body);
    stream.watched[0]?.takeProblem('There is no run of that name.');

    expect(take).not.toHaveBeenCalled();
  });

  it('may be asked again where the server cannot be reached', async () => {
    leave();
    leave = answerFollowEvents(() => Promise.reject(new Error('gone')));
    await ask(document.body);

    expect(fail).toHaveBeenCalledTimes(1);
    expect(take).not.toHaveBeenCalled();
  });

  it('is left alone where the server stands behind the view already', async () => {
    const panel = document.createElement('div');
    panel.className = 'jp-Smtc-main';
    document.body.append(panel);

    await ask(panel);

    expect(stream.watched).toEqual([]);
  });
});

describe('the output of a cell that launched something', () => {
  const widgetRenderer = vi.fn(() => {
    const widget = new Widget();
    return Object.assign(widget, {
      renderModel: async () => Promise.resolve()
    });
  });

  function host(given: Partial<ILiveHost> = {}): ILiveHost {
    widgetRenderer.mockClear();
    return {
      texts: TEXTS,
      connect,
      widgetRenderer,
      hasWidget: () => false,
      keepsWidget: async () => Promise.resolve(false),
      ...given
    };
  }

  function model(trusted = true): never {
    const data = {
      [LIVE_MIME]: { kind: 'run', name: 'train-1' },
      [WIDGET_MIME]: { model_id: 'm' },
      'text/plain': ['saved ', 'before'] as unknown
    };
    return { data, trusted } as never;
  }

  it('is the widget while this page knows it', async () => {
    const output = new LiveOutput(host({ hasWidget: id => id === 'm' }));

    await output.renderModel(model());

    expect(widgetRenderer).toHaveBeenCalledTimes(1);
    expect(stream.watched).toEqual([]);
  });

  it('is what the server tells when the kernel has no such widget', async () => {
    const output = new LiveOutput(host());

    await output.renderModel(model());
    expect(output.node.textContent).toBe('Reading train-1 …');
    stream.watched[0]?.takeValues({ info: {} });
    await vi.waitFor(() => {
      expect(render).toHaveBeenCalledTimes(1);
    });

    expect(widgetRenderer).not.toHaveBeenCalled();
    output.dispose();
    expect(stream.watched[0]?.isDisposed).toBe(true);
  });

  it('runs no widget of a notebook that is not trusted', async () => {
    const output = new LiveOutput(host({ hasWidget: () => true }));

    await output.renderModel(model(false));

    expect(widgetRenderer).not.toHaveBeenCalled();
  });

  it('is what was saved where nobody knows it', async () => {
    const output = new LiveOutput(host());
    await output.renderModel(model());

    stream.watched[0]?.takeProblem('There is no run of that name.');
    await Promise.resolve();

    expect(output.node.textContent).toBe('saved before');
    expect(widgetRenderer).not.toHaveBeenCalled();
  });

  it('is the widget again where the server knows less than the kernel', async () => {
    const keepsWidget = async (): Promise<boolean> => Promise.resolve(true);
    const output = new LiveOutput(host({ keepsWidget }));
    await output.renderModel(model());

    stream.watched[0]?.takeProblem('There is no run of that name.');

    await vi.waitFor(() => {
      expect(widgetRenderer).toHaveBeenCalledTimes(1);
    });
  });

  it('is what was saved where the server has no extension', async () => {
    stream.state = 'refused';
    stream.problem = { message: 'It is not running.', command: null };
    const output = new LiveOutput(host());

    await output.renderModel(model());
    await Promise.resolve();

    expect(output.node.textContent).toBe('saved before');
  });
});
