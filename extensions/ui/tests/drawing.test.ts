import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { drawing, Throttle } from '../src/charts/drawing.js';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('drawing', () => {
  it('draws once for any number of calls', () => {
    const chart = { draw: vi.fn() };
    for (let call = 0; call < 100; call++) {
      drawing.schedule(chart);
    }
    vi.advanceTimersByTime(100);

    expect(chart.draw).toHaveBeenCalledTimes(1);
  });

  it('leaves the slow ones to the next pictures, and forgets none', () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const drawn: number[] = [];
    const charts = [0, 1, 2, 3].map(place => ({
      draw: () => {
        now += 5;
        drawn.push(place);
      }
    }));
    charts.forEach(chart => {
      drawing.schedule(chart);
    });

    vi.advanceTimersToNextFrame();
    expect(drawn).toEqual([0]);
    vi.advanceTimersByTime(200);
    expect(drawn).toEqual([0, 1, 2, 3]);
  });

  it('is shared by all copies of the module in a page', async () => {
    vi.resetModules();
    const copy = await import('../src/charts/drawing.js');

    expect(copy.Throttle).not.toBe(Throttle);
    expect(copy.drawing).toBe(drawing);
  });

  it('draws the others when one fails', () => {
    const broken = {
      draw: () => {
        throw new Error('broken');
      }
    };
    const chart = { draw: vi.fn() };
    drawing.schedule(broken);
    drawing.schedule(chart);
    expect(() => vi.advanceTimersToNextFrame()).toThrow('broken');
    vi.advanceTimersByTime(100);

    expect(chart.draw).toHaveBeenCalledTimes(1);
  });

  it('does not draw what has gone', () => {
    const chart = { draw: vi.fn() };
    drawing.schedule(chart);
    drawing.cancel(chart);
    vi.advanceTimersByTime(100);

    expect(chart.draw).not.toHaveBeenCalled();
  });
});

describe('Throttle', () => {
  it('calls at once, and once more at the end of the time', () => {
    const call = vi.fn();
    const throttle = new Throttle(1_000, call);
    throttle.ask();
    throttle.ask();
    throttle.ask();
    expect(call).toHaveBeenCalledTimes(1);

    vi.advanceTimersByTime(5_000);
    expect(call).toHaveBeenCalledTimes(2);
  });

  it('does not call what has gone', () => {
    const call = vi.fn();
    const throttle = new Throttle(1_000, call);
    throttle.ask();
    throttle.ask();
    throttle.dispose();
    vi.advanceTimersByTime(5_000);

    expect(call).toHaveBeenCalledTimes(1);
  });
});
