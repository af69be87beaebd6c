import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import comparison from '../../../tests/fixtures/comparison_info.json';
import { staticResult } from '../src/static_model.js';
import { viewNamed } from '../src/views.js';
import { FakeModel, shownIn } from './fake_model.js';
import { HOSTILE, markupOf } from './hostile.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));

const interval = (mean: number): Record<string, unknown> => ({
  ...{ mean, low: 0.9 * mean, high: 1.1 * mean, level: 0.95 },
  ...{ evidence: 'emulated', spread: 'launches', candidates: 1, looks: 1 }
});
const POINT = {
  ...{ set_up: 0, devices: 1, speedup: null, efficiency: null },
  marginal_efficiency: null,
  ...{ step_time_s: 0.1, ideal_step_time_s: 0.1, lost: [] },
  ...{ usd_per_million_samples: interval(2), usd_per_epoch: null }
};
const LOST = [
  { cause: 'data_wait', s_per_step: interval(0.03) },
  { cause: 'compute', s_per_step: interval(-0.01) },
  { cause: 'other', s_per_step: interval(0.005) }
];
const SCALING = {
  mode: 'weak',
  bound: 0.5,
  curves: [
    {
      name: HOSTILE.join(' '),
      knee: 2,
      points: [
        POINT,
        {
          ...POINT,
          ...{ set_up: 1, devices: 2, step_time_s: 0.125, lost: LOST },
          ...{ speedup: interval(1.6), efficiency: interval(0.8) },
          usd_per_epoch: interval(0.5)
        }
      ]
    }
  ]
};

const told = (values: object): object => ({
  sections: [{ name: 'scaling', values }]
});

let model: FakeModel;
let el: HTMLElement;
let dispose: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  model = new FakeModel({
    info: { ...comparison, ...told(SCALING) },
    beat: { number: 1, elapsed_s: null }
  });
  el = document.createElement('div');
  dispose = shownIn(el, model, 'scaling-monitor');
});

afterEach(() => {
  dispose();
  vi.useRealTimers();
});

describe('a scaling study', () => {
  it('tells efficiency with its interval, and the knee', () => {
    const plot = el.querySelector('.smtc-scaling-plot');

    expect(plot?.getAttribute('aria-label')).toContain(
      '2: 80 % (72 % to 88 %)'
    );
    expect(plot?.getAttribute('aria-label')).toContain('pays up to 2');
    expect(plot?.querySelectorAll('.smtc-scaling-knee')).toHaveLength(1);
    expect(plot?.querySelectorAll('.smtc-scaling-interval')).toHaveLength(1);
  });

  it('draws bars whose parts end at the step time', () => {
    const [first, second] = el.querySelectorAll(
      '.smtc-scaling-lost .smtc-money-bar'
    );
    const ends = [...(second?.querySelectorAll('rect') ?? [])].map(
      rect =>
        parseFloat(rect.getAttribute('x') ?? '') +
        parseFloat(rect.getAttribute('width') ?? '')
    );

    expect(first?.querySelectorAll('rect')).toHaveLength(1);
    expect(ends.at(-1)).toBeCloseTo(100);
    expect(el.textContent).toContain('an epoch: ');
    expect(el.textContent).toContain('a million samples: ');
  });

  it('tells exposed communication from all else once it was recorded', () => {
    const [curve] = SCALING.curves;
    const points: object[] = [...(curve?.points ?? [])];
    const lost = [
      ...LOST,
      { cause: 'communication', s_per_step: interval(0.012) }
    ];
    points[1] = { ...POINT, ...points[1], lost };
    model.change({
      ...comparison,
      ...told({ ...SCALING, curves: [{ ...curve, points }] })
    });

    const bar = el.querySelectorAll('.smtc-scaling-lost .smtc-money-bar')[1];
    expect(bar?.getAttribute('aria-label')).toContain(
      'exposed communication 12 ms'
    );
    expect(el.querySelector('.smtc-money-key')?.textContent).toContain(
      'all else'
    );
    expect(el.textContent).not.toContain('not told apart');
  });

  it('rings nothing where adding devices does not pay', () => {
    const [curve] = SCALING.curves;
    const caption = (): string =>
      el.querySelector('.smtc-scaling-chart .smtc-chart-label')?.textContent ??
      '';
    expect(caption()).toContain('ring: pays up to here');

    model.change({
      ...comparison,
      ...told({ ...SCALING, curves: [{ ...curve, knee: null }] })
    });

    expect(el.querySelectorAll('.smtc-scaling-knee')).toHaveLength(0);
    expect(caption()).not.toContain('ring');
  });

  it('draws and says no interval of one launch', () => {
    const [curve] = SCALING.curves;
    const alone = (mean: number): object => ({
      ...interval(mean),
      spread: 'steps'
    });
    const points: object[] = [...(curve?.points ?? [])];
    points[1] = {
      ...points[1],
      ...{ efficiency: alone(0.8), usd_per_epoch: alone(0.5) },
      lost: [{ cause: 'other', s_per_step: alone(0.005) }]
    };

    model.change({
      ...comparison,
      ...told({ ...SCALING, curves: [{ ...curve, points }] })
    });

    expect(el.querySelectorAll('.smtc-scaling-interval')).toHaveLength(0);
    const plot = el.querySelector('.smtc-scaling-plot');
    expect(plot?.getAttribute('aria-label')).toContain('2: 80 % (one launch)');
    const bar = el.querySelectorAll('.smtc-scaling-lost .smtc-money-bar')[1];
    expect(bar?.getAttribute('aria-label')).toContain('5 ms (one launch)');
    expect(el.textContent).toContain('an epoch: $0.50 (one launch)');
  });

  it('compares by the sample alone: ratios of steps are left out', () => {
    const ratios = (): HTMLElement | undefined =>
      [...el.querySelectorAll<HTMLElement>('.smtc-fold')].find(
        ({ textContent }) => textContent.includes('Speed-up and saving')
      );
    model.change({ ...comparison, ended: false, ...told(SCALING) });
    expect(ratios()?.hidden).toBe(true);

    model.change({ ...comparison, ended: false, sections: [] });

    expect(ratios()?.hidden).toBe(false);
  });

  it('shows neither while no round is whole', () => {
    model.change({ ...comparison, sections: [] });

    const figures = el.querySelectorAll<HTMLElement>('.smtc-scaling-chart');
    expect([...figures].map(({ hidden }) => hidden)).toEqual([true]);
  });

  it('is shown as before where it was saved before there were sections', () => {
    const older = Object.fromEntries(
      Object.entries(comparison).filter(([name]) => name !== 'sections')
    );
    const saved = { version: 2, kind: 'scaling', tables: {}, comparison: null };
    dispose();
    const kept = staticResult({
      ...saved,
      info: { ...older, scaling: SCALING }
    });
    const shown = viewNamed(kept.view);
    dispose = shown.render({
      ...{ el, model: kept.model },
      state: shown.initialize(kept.model)
    });

    expect(el.querySelectorAll('.smtc-scaling-knee')).toHaveLength(1);
    expect(el.querySelectorAll('.smtc-scaling-lost')).toHaveLength(1);
  });

  it('makes no markup of hostile names', () => {
    expect([...markupOf(el)]).not.toContain('img');
    expect(el.textContent).not.toContain('undefined');
  });
});
