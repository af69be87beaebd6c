import { isForecastOf, parseForecast } from '@smtc-lab/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import wire from '../../../tests/fixtures/forecast.json';
import { RequestError } from '../src/connection/request_error.js';
import { WorkbenchModel } from '../src/designer/workbench_model.js';
import type { IStream } from '../src/tokens.js';

const texts = { __: (text: string) => text, _n: (text: string) => text };

interface IQuestion {
  readonly value: unknown;
  readonly answer: (told: object) => void;
}

/**
 * A server that answers what set-ups would be when the test lets it.
 */
class FakeStream {
  readonly forecasts: IQuestion[] = [];
  readonly ordered: unknown[] = [];
  isForbidden = false;

  async request(path: string, body?: unknown): Promise<unknown> {
    switch (path) {
      case 'catalog':
        return Promise.resolve([]);
      case 'forecast':
        return new Promise(resolve => {
          const { value } = body as { value: unknown };
          this.forecasts.push({ value, answer: resolve });
        });
      case 'calibration':
        this.ordered.push(body);
        return this.isForbidden
          ? Promise.reject(new RequestError(403, 'Forbidden.'))
          : Promise.resolve({});
      default:
        return Promise.resolve({ value: ['demo'], problems: [[]] });
    }
  }
}

function told(value: unknown, state = 'idle'): object {
  const calibrating = { state, sentence: '', launch: 0, launches: 0 };
  return { ...wire, of: JSON.stringify(value), calibrating };
}

let stream: FakeStream;

async function opened(): Promise<WorkbenchModel> {
  const server = stream as unknown as IStream;
  return WorkbenchModel.open(server, 3, null, '', texts);
}

/**
 * Type, wait, and return the question that came of it.
 */
async function typed(
  model: WorkbenchModel,
  value: unknown,
  waitMs = 30
): Promise<IQuestion | undefined> {
  model.set('value', value);
  model.save_changes();
  await vi.advanceTimersByTimeAsync(waitMs);
  return stream.forecasts.at(-1);
}

beforeEach(() => {
  vi.useFakeTimers();
  stream = new FakeStream();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the forecast of a workbench without a kernel', () => {
  it('is asked for when it opens, and told as it came', async () => {
    const model = await opened();
    await vi.advanceTimersByTimeAsync(30);

    stream.forecasts[0]?.answer(told(['demo']));
    await vi.advanceTimersByTimeAsync(0);

    const forecast = parseForecast(model.get('forecast'));
    expect(isForecastOf(forecast, model.get('value'))).toBe(true);
    expect(forecast.setUps[0]?.stepTimeS?.value).toBe(0.72);
  });

  it('is asked for within 30 ms of a change, however fast more come', async () => {
    const model = await opened();
    await vi.advanceTimersByTimeAsync(30);
    stream.forecasts[0]?.answer(told(['demo']));

    for (const value of [['a'], ['ab'], ['abc'], ['abcd']]) {
      await typed(model, value, 10);
    }

    expect(stream.forecasts.map(({ value }) => value)).toEqual([
      ['demo'],
      ['abc']
    ]);
  });

  it('of what was typed before never replaces a newer one', async () => {
    const model = await opened();
    const shown: unknown[] = [];
    model.on('change:forecast', () => {
      shown.push(parseForecast(model.get('forecast')).of);
    });
    await vi.advanceTimersByTimeAsync(30);
    await typed(model, ['a']);
    await typed(model, ['ab']);
    expect(stream.forecasts).toHaveLength(1); // the others wait for its answer

    stream.forecasts[0]?.answer(told(['demo']));
    await vi.advanceTimersByTimeAsync(30);
    expect(isForecastOf(parseForecast(model.get('forecast')), ['ab'])).toBe(
      false
    );
    stream.forecasts[1]?.answer(told(['ab']));
    await vi.runAllTimersAsync();

    expect(shown).toEqual(['["demo"]', '["ab"]']);
    expect(stream.forecasts).toHaveLength(2);
  });

  it('is not told once its view is gone', async () => {
    const model = await opened();
    await vi.advanceTimersByTimeAsync(30);

    model.dispose();
    stream.forecasts[0]?.answer(told(['demo']));
    await vi.runAllTimersAsync();

    expect(model.get('forecast')).toBeUndefined();
  });

  it('is not told where it is none, and is asked for again', async () => {
    const model = await opened();
    await vi.advanceTimersByTimeAsync(30);

    stream.forecasts[0]?.answer({ value: [], problems: [] });
    await vi.advanceTimersByTimeAsync(0);
    expect(model.get('forecast')).toBeUndefined();
    const next = await typed(model, ['a']);
    next?.answer(told(['a']));
    await vi.advanceTimersByTimeAsync(0);

    expect(isForecastOf(parseForecast(model.get('forecast')), ['a'])).toBe(
      true
    );
  });

  it('says each second how far a calibration is, until it has ended', async () => {
    const model = await opened();
    await vi.advanceTimersByTimeAsync(30);
    stream.forecasts[0]?.answer(told(['demo']));
    model.send({ type: 'calibrate' });
    await vi.advanceTimersByTimeAsync(0);
    expect(stream.ordered).toEqual([{ calibrate: ['demo'] }]);

    stream.forecasts[1]?.answer(told(['demo'], 'calibrating'));
    await vi.advanceTimersByTimeAsync(1000);
    stream.forecasts[2]?.answer(told(['demo'], 'done'));
    await vi.runAllTimersAsync();

    expect(stream.forecasts).toHaveLength(3);
    expect(parseForecast(model.get('forecast')).calibrating.state).toBe('done');
  });

  it('does not ask how far it is while nobody looks', async () => {
    const model = await opened();
    await vi.advanceTimersByTimeAsync(30);
    stream.forecasts[0]?.answer(told(['demo'], 'calibrating'));
    await vi.advanceTimersByTimeAsync(0);

    model.look(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stream.forecasts).toHaveLength(1);
    model.look(true);
    await vi.advanceTimersByTimeAsync(0);

    expect(stream.forecasts).toHaveLength(2);
  });

  it('stops what calibrates', async () => {
    const model = await opened();

    model.send({ type: 'stop-calibrating' });
    await vi.advanceTimersByTimeAsync(0);

    expect(stream.ordered).toEqual([{ calibrate: null }]);
  });

  it("tells the server's own words when nothing may be calibrated", async () => {
    const model = await opened();
    stream.isForbidden = true;

    model.send({ type: 'calibrate' });
    await vi.advanceTimersByTimeAsync(0);

    expect(parseForecast(model.get('forecast')).calibrating).toMatchObject({
      state: 'failed',
      sentence: 'Forbidden.'
    });
  });
});
