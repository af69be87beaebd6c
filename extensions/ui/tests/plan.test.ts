import { readWire, ProtocolError } from '@smtc-lab/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import fixture from '../../../tests/fixtures/plan_info.json';
import { planner } from '../src/plan/planner.js';
import { scaleOf } from '../src/plan/scale.js';
import { StaticModel } from '../src/static_model.js';
import { FakeModel, button, host } from './forms_kit.js';

const HOSTILE = '<img src=x onerror=alert(1)>';

function shown(changes: Readonly<Record<string, unknown>> = {}): {
  root: HTMLElement;
  model: FakeModel;
  leave: () => void;
} {
  const model = new FakeModel({
    plan: { ...fixture, ...changes },
    chosen: -1,
    explained: {}
  });
  const root = host();
  const leave = planner.render({ model, el: root, state: null });
  return { root, model, leave };
}

function marks(root: HTMLElement): SVGElement[] {
  return [...root.querySelectorAll<SVGElement>('.smtc-plan-point')];
}

function markOf(root: HTMLElement, name: string): SVGElement {
  const found = marks(root).find(each =>
    each.getAttribute('aria-label')?.includes(name)
  );
  if (found === undefined) {
    throw new Error(`there is no mark ${name}`);
  }
  return found;
}

beforeEach(() => {
  document.body.replaceChildren();
});

describe('a plan from Python', () => {
  it('is read with camel-case names and units kept', () => {
    const plan = readWire('PlanInfo', fixture);

    expect(plan.points).toHaveLength(6);
    expect(plan.points[0]?.names).toEqual(['fastest']);
    expect(plan.points[0]?.stagesS.device).toBe(0.09);
    expect(plan.measured[0]?.errorFraction).toBeCloseTo(-0.0459, 3);
  });

  it('is refused with the field and the value that do not fit', () => {
    const torn = { ...fixture, num_candidates: 'many' };

    expect(() => readWire('PlanInfo', torn)).toThrow(
      /num_candidates="many".*finite number/
    );
    expect(() => readWire('PlanInfo', { ...fixture, version: 2 })).toThrow(
      ProtocolError
    );
  });
});

describe('the view of a plan', () => {
  it.each(['predicted', 'estimated'])(
    'says that its best cluster is %s',
    word => {
      const points = fixture.points.map(point => ({
        ...point,
        evidence: word
      }));

      const { root } = shown({ points });

      expect(root.querySelector('.smtc-badge')?.textContent).toBe(word);
    }
  );

  it('draws each cluster of known price, and tells the others in the table', () => {
    const { root } = shown();

    expect(marks(root)).toHaveLength(5);
    const rows = [...root.querySelectorAll('tbody tr')];
    expect(rows.map(row => row.textContent).join()).not.toContain('p3.8xlarge');
    button(root, 'Show 3 more clusters').click();
    const all = root.querySelector('tbody')?.textContent ?? '';
    expect(all).toContain('1 × ml.p3.8xlarge');
    expect(all).toContain('unknown');
  });

  it('draws what is estimated dashed, and says so', () => {
    const points = fixture.points.map(point => ({
      ...point,
      evidence: 'estimated'
    }));
    const { root } = shown({ points });

    const [mark] = marks(root);
    expect(mark?.classList).toContain('smtc-plan-extrapolated');
    expect(mark?.getAttribute('aria-label')).toMatch(/, estimated$/);
  });

  it('shows the recommended cluster first, with stages, reason and code', () => {
    const { root } = shown();

    const detail = root.querySelector('.smtc-plan-detail')?.textContent ?? '';
    expect(detail).toContain('2 × ml.c5.9xlarge (best, knee)');
    expect(detail).toContain('90 ms, busy 86.5 %, the bottleneck');
    expect(detail).toContain('CPU-bound: 8 vCPUs');
    expect(root.querySelector('pre')?.textContent).toContain('TrainingJob');
  });

  it('peeks at a cluster that is pointed at, and goes back', () => {
    const { root } = shown();
    const title = root.querySelector('h4');

    markOf(root, 'cheapest').dispatchEvent(new Event('pointerenter'));
    expect(title?.textContent).toContain('(cheapest)');
    markOf(root, 'cheapest').dispatchEvent(new Event('pointerleave'));
    expect(title?.textContent).toContain('(best, knee)');
  });

  it('tells Python what was chosen, and shows what Python says of it', () => {
    const { root, model } = shown();

    markOf(root, 'fastest').dispatchEvent(new Event('click'));
    expect(model.get('chosen')).toBe(0);
    model.set('explained', {
      place: 0,
      text: 'Device-bound.',
      code: 'lab.launch(fast)'
    });

    const detail = root.querySelector('.smtc-plan-detail')?.textContent ?? '';
    expect(detail).toContain('(fastest)');
    expect(detail).toContain('Device-bound.');
    expect(detail).toContain('lab.launch(fast)');
    const pressed = [...root.querySelectorAll('[aria-pressed="true"]')];
    expect(pressed.every(each => !each.textContent.includes('best'))).toBe(
      true
    );
  });

  it('keeps a choice where nobody else does: in what a notebook has saved', () => {
    const values = { plan: fixture, chosen: -1, explained: {} };
    const model = new StaticModel(values, []);
    const root = host();
    planner.render({ model, el: root, state: null });

    markOf(root, 'cheapest').dispatchEvent(new Event('click'));

    expect(root.querySelector('h4')?.textContent).toContain('(cheapest)');
    expect(markOf(root, 'cheapest').getAttribute('aria-pressed')).toBe('true');
  });

  it('is walked through by arrow keys, with one stop for Tab', () => {
    const { root, model } = shown();
    const stop = marks(root).filter(
      each => each.getAttribute('tabindex') === '0'
    );
    expect(stop).toHaveLength(1);

    stop[0]?.focus();
    stop[0]?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft' }));
    expect(document.activeElement?.getAttribute('aria-label')).toContain(
      'fastest'
    );
    document.activeElement?.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter' })
    );

    expect(model.get('chosen')).toBe(0);
    expect(document.activeElement?.getAttribute('aria-pressed')).toBe('true');
  });

  it('keeps the focus where it is while Python tells more', () => {
    const { root, model } = shown();
    markOf(root, 'cheapest').focus();

    model.set('explained', { place: 0, text: 'Device-bound.', code: '' });

    expect(document.activeElement).toBe(markOf(root, 'cheapest'));
  });

  it('changes its axes to the whole job, and not without steps', () => {
    const { root } = shown();
    const axes = (): string =>
      root.querySelector('svg')?.getAttribute('aria-label') ?? '';
    expect(axes()).toContain('USD per 1,000 steps against time per step');

    button(root, 'Time of 5,000 steps').click();
    button(root, 'Cost of the job').click();
    expect(axes()).toContain(
      "USD per job, with this machine's start-up against time of"
    );
    expect(root.querySelector('.smtc-plan-run')).toBeNull();

    const none = shown({ steps: null }).root;
    expect(button(none, 'Time of the job').disabled).toBe(true);
  });

  it('draws limits as lines on axes of their own kind', () => {
    const limits = (root: HTMLElement): readonly string[] =>
      [...root.querySelectorAll('.smtc-plan-limits text')].map(
        each => each.textContent
      );
    const { root } = shown();
    expect(limits(root)).toEqual(['budget: $60.00 an hour']);

    // a limit of the job puts its axis on the job
    const ofJob = shown({ deadline_s: 7200, budget_usd: 20 }).root;
    expect(limits(ofJob)).toEqual([
      'deadline: 2 h',
      'budget: $20.00',
      'budget: $60.00 an hour'
    ]);
    button(ofJob, 'Cost of the job').click();
    expect(limits(ofJob)).toEqual(['deadline: 2 h']);
  });

  it('sorts the table by a head, back and forth, unknown ones last', () => {
    const { root } = shown();
    const prices = (): readonly string[] =>
      [...root.querySelectorAll('tbody tr')].map(
        row => row.children[2]?.textContent ?? ''
      );
    button(root, 'Show 3 more clusters').click();

    button(root, 'price').focus();
    button(root, 'price').click();
    const rising = prices();
    expect(rising[0]).toContain('3.825');
    expect(rising.at(-1)).toBe('unknown');
    expect(document.activeElement?.textContent).toBe('price');

    button(root, 'price').click();
    expect(prices()[0]).toContain('25.25');
    expect(prices().at(-1)).toBe('unknown');
    expect(root.querySelector('th[aria-sort="descending"]')?.textContent).toBe(
      'price'
    );
  });

  it('drops a run on the chart with the error of its prediction', () => {
    const { root } = shown();

    expect(root.querySelector('.smtc-plan-run')?.textContent).toBe(
      'emulated: predicted 4.59 % too fast'
    );
    expect(root.querySelector('.smtc-plan-runs')?.textContent).toContain(
      'train-images-1 on 1 × ml.p3.2xlarge'
    );
  });

  it('shows names as text, whatever they are', () => {
    const [first] = fixture.points;
    const { root } = shown({
      sentence: HOSTILE,
      points: [{ ...first, label: HOSTILE, explanation: '', notes: [HOSTILE] }]
    });

    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).toContain(HOSTILE);
  });

  it('says why there is nothing to draw', () => {
    const { root } = shown({ points: [], num_candidates: 0 });

    expect(root.querySelector('svg.smtc-plan-point')).toBeNull();
    expect(root.textContent).toContain('there is nothing to draw');
    expect(shown().root.querySelector('.smtc-plan-key')?.textContent).toContain(
      'prices: historical 2022-10-27, old'
    );
  });

  it('takes itself away, and listens no more', () => {
    const { root, model, leave } = shown();

    leave();

    expect(root.childElementCount).toBe(0);
    expect(model.numCallbacks).toBe(0);
  });
});

describe('a logarithmic axis', () => {
  it('holds all intervals, and has few round ticks', () => {
    const scale = scaleOf([
      { value: 0.1, low: 0.09, high: 0.11 },
      { value: 40, low: 35, high: 50 }
    ]);

    expect(scale.place(0.09)).toBeGreaterThan(0);
    expect(scale.place(50)).toBeLessThan(1);
    expect(scale.ticks).toEqual([0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]);
  });
});
