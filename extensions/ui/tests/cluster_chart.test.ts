import { beforeEach, describe, expect, it } from 'vitest';
import plan from '../../../tests/fixtures/plan_info.json';
import { ClusterChart } from '../src/workbench/cluster_chart.js';
import { SetUps } from '../src/workbench/set_ups.js';
import { catalogJson, FakeModel } from './forms_kit.js';

const GROUPS = plan.points.map(({ label }) =>
  label.split(' + ').map((text, place) => {
    const [count, , type] = text.split(/\s/u);
    return {
      instance_type: type,
      instance_count: Number(count),
      role: place === 0 ? 'train' : 'data'
    };
  })
);

function job(name: string): object {
  const group = {
    instance_group_name: 'dnn_group',
    instance_type: 'ml.p3.2xlarge',
    instance_count: 1
  };
  return {
    entry_point: 'train.py',
    cluster: { name, instance_groups: [group] },
    hyperparameters: {},
    compiler_config: null,
    max_steps: 10
  };
}

const JOBS = [job('one'), job('two')];
const [FAST] = plan.points;
const KNOWN = {
  plan: 0,
  problem: '',
  step_time_s: FAST?.step_time_s,
  usd_per_1000_steps: FAST?.usd_per_1000_steps
};
const UNKNOWN = {
  plan: null,
  problem: 'It was not calibrated.',
  step_time_s: null,
  usd_per_1000_steps: null
};

let model: FakeModel;
let setUps: SetUps;
let chart: ClusterChart;

function tell(...placed: readonly object[]): void {
  model.set('catalog_plans', {
    version: 1,
    of: JSON.stringify(model.get('value')),
    plans: [{ plan, groups: GROUPS }],
    set_ups: placed
  });
  chart.update();
}

function point(name: string): SVGElement {
  const found = [
    ...chart.element.querySelectorAll<SVGElement>('.smtc-plan-point')
  ].find(each => each.getAttribute('aria-label')?.startsWith(name));
  if (found === undefined) {
    throw new Error(`there is no cluster ${name}`);
  }
  return found;
}

function typesOf(place: number): readonly string[] {
  const { groups } = setUps.jobs[place]?.cluster ?? { groups: [] };
  return groups.map(
    ({ name, instanceType, count }) => `${name}=${instanceType}:${count}`
  );
}

beforeEach(() => {
  model = new FakeModel({
    value: JOBS,
    problems: [[], []],
    catalog: catalogJson
  });
  setUps = new SetUps(model);
  chart = new ClusterChart(model, setUps);
  document.body.replaceChildren(setUps.element, chart.element);
});

describe('all clusters beside the set-ups', () => {
  it('are hidden before a script is calibrated', () => {
    expect(chart.element.hidden).toBe(true);
  });

  it('have the set-ups among them, by hue, shape and letter', () => {
    tell(KNOWN, KNOWN);

    const marks = [...chart.element.querySelectorAll('.smtc-plan-set-up')];
    expect(marks.map(mark => mark.querySelector('text')?.textContent)).toEqual([
      'A',
      'B'
    ]);
    expect(marks[0]?.querySelector('circle')).not.toBeNull();
    expect(marks[1]?.querySelector('rect')).not.toBeNull();
    expect(marks[0]?.getAttribute('aria-label')).toContain('predicted');
  });

  it('go into the last set-up when pressed, and out again with Undo', () => {
    tell(KNOWN, KNOWN);

    point(plan.points[1]?.label ?? '').dispatchEvent(new MouseEvent('click'));

    expect(typesOf(0)).toEqual(['dnn_group=ml.p3.2xlarge:1']);
    expect(typesOf(1)).toEqual([
      'dnn_group=ml.p3.2xlarge:1',
      'data_group=ml.c5.9xlarge:2'
    ]);
    setUps.steps.querySelector('button')?.click();
    expect(typesOf(1)).toEqual(['dnn_group=ml.p3.2xlarge:1']);
  });

  it('go into the set-up that is chosen, by keyboard', () => {
    tell(KNOWN, KNOWN);
    chart.element.querySelector<HTMLInputElement>('input[type=radio]')?.click();

    const mark = point(plan.points[1]?.label ?? '');
    mark.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));

    expect(typesOf(0)).toContain('data_group=ml.c5.9xlarge:2');
    expect(typesOf(1)).toEqual(['dnn_group=ml.p3.2xlarge:1']);
  });

  it('say of a set-up that has no place why', () => {
    tell(KNOWN, UNKNOWN);

    expect(chart.element.textContent).toContain('B: It was not calibrated.');
    setUps.changed = 0;
    chart.update();
    expect(chart.element.querySelectorAll('.smtc-plan-set-up')).toHaveLength(1);
  });

  it('are not drawn again while a set-up changes', () => {
    tell(KNOWN, KNOWN);
    const before = chart.element.querySelector('svg.smtc-mark ~ *, svg');
    model.set('value', [job('one'), job('other')]);
    chart.update();

    expect(chart.element.classList).toContain('smtc-stale');
    expect(chart.element.querySelector('svg.smtc-mark ~ *, svg')).toBe(before);
  });
});
