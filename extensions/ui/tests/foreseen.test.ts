import { parseForecast, type IForecastSetUp } from '@smtc-lab/protocol';
import { describe, expect, it } from 'vitest';
import wire from '../../../tests/fixtures/forecast.json';
import { CalibrateBox } from '../src/workbench/calibrate_box.js';
import {
  fillingOf,
  headline,
  offersOf,
  offerText
} from '../src/workbench/foreseen.js';
import { ForeseenFigures } from '../src/workbench/foreseen_figures.js';

const UNMEASURED = {
  measured: { ladder: undefined, problem: '' },
  jobSteps: null
};

const FORECAST = parseForecast(wire);
const FIRST = FORECAST.setUps[0] as IForecastSetUp;

function like(
  mean: number,
  usd: number,
  changed: Partial<IForecastSetUp> = {}
): IForecastSetUp {
  const span = (value: number, of: IForecastSetUp['stepTimeS']) =>
    of === null
      ? null
      : { ...of, value, low: 0.95 * value, high: 1.05 * value };
  return {
    ...FIRST,
    stepTimeS: span(mean, FIRST.stepTimeS),
    usdPer1000Steps: span(usd, FIRST.usdPer1000Steps),
    ...changed
  };
}

describe('what is predicted', () => {
  it('is said in a sentence beside the first set-up', () => {
    expect(headline([like(0.72, 0.8), like(0.09, 0.2)])).toBe(
      'B should be 8× (7.24×–8.84×) faster and 75 % cheaper per step.'
    );
  });

  it('is no claim where the intervals overlap', () => {
    expect(headline([like(0.72, 0.8), like(0.69, 0.76)])).toBe(
      'B may be 1.04× (0.944×–1.15×) faster and 5 % cheaper per step; the intervals overlap.'
    );
  });

  it('has the ends of what is slower the other way round', () => {
    expect(headline([like(0.1, 0.8), like(0.2, 0.8)])).toBe(
      'B should be 2× (1.81×–2.21×) slower and at the same cost per step.'
    );
  });

  it('leaves the cost out where a price is unknown', () => {
    const unpriced = like(0.09, 1, { usdPer1000Steps: null });

    expect(headline([like(0.72, 0.8), unpriced])).toBe(
      'B should be 8× (7.24×–8.84×) faster.'
    );
  });

  it('is nothing of a set-up that nothing is known of', () => {
    const unknown = like(1, 1, { stepTimeS: null });

    expect(headline([unknown, like(1, 1)])).toBe('');
    expect(headline([like(1, 1), unknown])).toBe('');
    expect(fillingOf(unknown).stepsPerS).toBeNull();
    expect(offerText(unknown)).toBe('');
  });

  it('marks the CPUs that have more to do', () => {
    const shares = { device: 0.5, network: 0.1 };
    const cpu = { bottleneck: 'cpu' } as const;
    const fed = { ...shares, trainerCpu: 0.2, dataCpu: 0.9 };
    const alone = { ...shares, trainerCpu: 1, dataCpu: null };

    expect(fillingOf(like(1, 1, { ...cpu, utilization: fed })).bottleneck).toBe(
      'dataCpu'
    );
    expect(
      fillingOf(like(1, 1, { ...cpu, utilization: alone })).bottleneck
    ).toBe('trainerCpu');
  });

  it('marks data workers where they are fewer than the vCPUs', () => {
    const few = {
      bottleneck: 'cpu',
      limitingWorkers: 2,
      advice: 'Do.'
    } as const;
    const filling = fillingOf(like(1, 1, few));

    expect(filling.bottleneck).toBe('workers');
    expect(filling.limitingWorkers).toBe(2);
    expect(filling.advice).toBe('Do.');
  });

  it('tells of each type what it would bring, and of others nothing', () => {
    const offers = [
      {
        instanceGroupName: 'dnn_group',
        stepTimeS: [0.1, null, 0.2],
        usdPer1000Steps: [0.5, null, null]
      }
    ];

    expect(offersOf(like(1, 1, { offers }), 0, ['a', 'b', 'c'])).toEqual(
      new Map([
        ['a', '100 ms, $0.50'],
        ['c', '200 ms']
      ])
    );
  });

  it('of the baseline is called so, and the others are put beside it', () => {
    const figures = new ForeseenFigures();
    const most = { stepTimeS: 1, usdPer1000Steps: 1 };
    const first = like(0.8, 0.8);

    figures.show(
      { foreseen: first, first, most, isStale: false, ...UNMEASURED },
      0
    );
    expect(figures.element.textContent).toContain('baseline');
    figures.show(
      { foreseen: like(0.4, 0.4), first, most, isStale: true, ...UNMEASURED },
      1
    );
    expect(figures.element.textContent).toContain('2× faster');
    expect(figures.element.textContent).toContain('50 % cheaper');
    expect(figures.element.classList.contains('smtc-stale')).toBe(true);
  });

  it('that cannot be says why', () => {
    const figures = new ForeseenFigures();
    const most = { stepTimeS: 1, usdPer1000Steps: 1 };
    const foreseen = like(1, 1, {
      stepTimeS: null,
      problem: 'No calibration.'
    });

    figures.show(
      { foreseen, first: foreseen, most, isStale: false, ...UNMEASURED },
      0
    );

    expect(figures.element.textContent).toBe('No calibration.');
    figures.show(
      { foreseen, first: foreseen, most, isStale: false, ...UNMEASURED },
      0,
      true
    );
    expect(figures.element.textContent).toBe('');
  });
});

describe('a calibration', () => {
  const missing = {
    workloads: 1,
    launches: 15,
    aboutS: 180,
    sentence: 'It runs train.py 15 times.'
  };
  const idle = {
    state: 'idle',
    sentence: '',
    launch: 0,
    launches: 0
  } as const;

  function box(changed: Partial<typeof FORECAST>) {
    const orders: string[] = [];
    const made = new CalibrateBox(order => orders.push(order));
    made.show({ ...FORECAST, missing, calibrating: idle, ...changed });
    const [begin, stop] = made.element.querySelectorAll('button');
    return { element: made.element, begin, stop, orders };
  }

  it('says how long it takes and what it runs before it is begun', () => {
    const { element, begin, orders } = box({});

    expect(element.textContent).toContain('about 180 s on this machine');
    expect(element.textContent).toContain('It runs train.py 15 times.');
    begin?.click();
    expect(orders).toEqual(['calibrate']);
  });

  it('is stopped while it goes on', () => {
    const calibrating = {
      state: 'calibrating',
      sentence: 'Launch 3 of 15.',
      launch: 3,
      launches: 15
    } as const;
    const { element, begin, stop, orders } = box({ calibrating });

    expect([begin?.hidden, stop?.hidden]).toEqual([true, false]);
    expect(element.querySelector('progress')?.value).toBe(2);
    stop?.click();
    expect(orders).toEqual(['stop-calibrating']);
  });

  it('that failed says why, and can be begun again', () => {
    const failed = { ...idle, state: 'failed', sentence: 'It makes no steps.' };
    const { element, begin } = box({
      calibrating: failed as typeof FORECAST.calibrating
    });

    expect(element.textContent).toContain('It makes no steps.');
    expect(begin?.hidden).toBe(false);
  });

  it('is not spoken of where there is nothing to make', () => {
    expect(box({ missing: null }).element.hidden).toBe(true);
  });
});
