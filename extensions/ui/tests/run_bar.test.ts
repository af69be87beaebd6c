import { expect, it, vi } from 'vitest';
import forecast from '../../../tests/fixtures/forecast.json';
import { RunBar } from '../src/workbench/run_bar.js';
import { SetUps } from '../src/workbench/set_ups.js';
import { catalogJson, FakeModel, labelled } from './forms_kit.js';

function told(more: object): string {
  const model = new FakeModel({
    value: [],
    problems: [],
    catalog: catalogJson,
    rounds: 3,
    info: {},
    start_problem: '',
    forecast: { ...forecast, ...more }
  });
  const bar = new RunBar(model, new SetUps(model));
  return bar.element.querySelector('span[role=status]')?.textContent ?? '';
}

const [alone] = forecast.set_ups;

it('says before Run what is billed, how long it takes and what it would cost', () => {
  const known = { comparison_s: 90, comparison_usd: 0.12 };

  expect(told({})).toBe('Runs on this machine: nothing is billed.');
  expect(told({ ...known, set_ups: [{ ...alone, is_emulated: true }] })).toBe(
    'About 90 s on this machine: nothing is billed. On the instances that are named, its steps would cost about $0.12.'
  );
  expect(told({ ...known, set_ups: [{ ...alone, is_emulated: false }] })).toBe(
    'About 90 s on this machine: nothing is billed. On the instances that are named, it would cost about $0.12.'
  );
});

const cluster = {
  instance_groups: [
    { instance_group_name: 'dnn_group', instance_type: 'ml.p3.2xlarge' }
  ]
};

function shownBar(value: readonly unknown[]): {
  readonly model: FakeModel;
  readonly setUps: SetUps;
  readonly bar: RunBar;
} {
  const model = new FakeModel({
    value: value,
    problems: [],
    catalog: catalogJson,
    rounds: 3,
    info: {},
    start_problem: '',
    forecast
  });
  const setUps = new SetUps(model);
  const bar = new RunBar(model, setUps);
  document.body.replaceChildren(bar.element, setUps.element);
  return { model, setUps, bar };
}

it('has a field for the time dilation, which says once what is wrong with it', () => {
  const job = {
    entry_point: 'train.py',
    cluster,
    emulation: { device_step_time_s: 0.03, time_dilation: 40 }
  };
  const { model, setUps, bar } = shownBar([job, job]);
  const field = labelled(bar.element, 'Emulation: time dilation');
  expect(field.value).toBe('40');

  field.value = '0';
  field.dispatchEvent(new Event('input'));
  const told = model.get('value') as (typeof job)[];
  expect(told.map(each => each.emulation)).toEqual([
    { device_step_time_s: 0.03, time_dilation: 0 },
    { device_step_time_s: 0.03, time_dilation: 0 }
  ]);

  const problem = 'Emulation.time_dilation=0.0 must be 1 or above. Raise it.';
  model.set('problems', [[problem], [problem]]);
  setUps.update();
  bar.update();
  expect(field.getAttribute('aria-invalid')).toBe('true');
  expect(document.body.textContent.split(problem).length - 1).toBe(1);
  expect(bar.element.textContent).toContain('One thing is to be mended first.');

  field.value = '';
  field.dispatchEvent(new Event('input'));
  model.set('problems', [[], []]);
  bar.update();
  expect(field.getAttribute('aria-invalid')).toBe('false');
  expect(document.body.textContent).not.toContain(problem);
});

it('takes a device time for all accelerators, or one for each kind', () => {
  const emulation: { device_step_time_s: number | string | null } = {
    device_step_time_s: 0.03
  };
  const job = { entry_point: 'train.py', cluster, emulation };
  const { model, setUps, bar } = shownBar([job, job]);
  const field = labelled(bar.element, 'Accelerator: seconds per step');
  const typed = (text: string): unknown => {
    field.value = text;
    field.dispatchEvent(new Event('input'));
    bar.update();
    expect(field.value).toBe(text);
    const told = model.get('value') as (typeof job)[];
    return told.map(each => each.emulation.device_step_time_s);
  };
  expect(field.value).toBe('0.03');

  expect(typed('0.040')).toEqual([0.04, 0.04]);
  expect(typed('V100=0.03,A100=')).toEqual(Array(2).fill('V100=0.03,A100='));
  expect(typed('')).toEqual([null, null]);

  const problem = "Emulation.device_step_time_s='V100=': is no time above 0.";
  model.set('problems', [[problem], [problem]]);
  setUps.update();
  bar.update();
  expect(field.getAttribute('aria-invalid')).toBe('true');
});

it('folds what few need of the emulation, until it is said or wrong', () => {
  const plain = { entry_point: 'train.py', cluster };
  const { model, setUps, bar } = shownBar([plain]);
  const fold = labelled(bar.element, 'Emulation: time dilation').closest(
    'details'
  );
  expect(fold?.open).toBe(false);

  model.set('problems', [['Emulation.time_dilation=0.0 must be 1 or above.']]);
  setUps.update();
  bar.update();
  expect(fold?.open).toBe(true);

  const said = shownBar([{ ...plain, emulation: { time_dilation: 40 } }]);
  const open = labelled(said.bar.element, 'Emulation: time dilation').closest(
    'details'
  );
  expect(open?.open).toBe(true);
  if (open !== null) {
    open.open = false;
  }
  said.bar.update();
  expect(open?.open).toBe(false); // it stays as it was put
});

it('takes latencies that are not given from the spec', () => {
  const link = { between_gbps: 1, inside_gbps: 10 };
  const job = { entry_point: 'train.py', cluster, emulation: { link } };
  const { bar } = shownBar([job]);

  expect(labelled(bar.element, 'Emulated network between trainers').value).toBe(
    'inside=10Gbit/10us,between=1Gbit/100us'
  );
});

it('has a field for the network between trainers, in the line that the terminal takes', () => {
  const link = {
    between_gbps: 1,
    between_latency_s: 0.0001,
    inside_gbps: null
  };
  const job = { entry_point: 'train.py', cluster, emulation: { link } };
  const { model, setUps, bar } = shownBar([job, { ...job, emulation: null }]);
  const field = labelled(bar.element, 'Emulated network between trainers');
  expect(field.value).toBe('between=1Gbit/100us');

  const line = 'inside=10Gbit/20us,between=catalog';
  field.focus();
  field.value = line;
  field.dispatchEvent(new Event('input'));
  const told = model.get('value') as (typeof job)[];
  expect(told.map(each => each.emulation)).toEqual([
    { link: line },
    { link: line }
  ]);

  const problem = `Emulation.link='${line}': inside has 'x' where a bandwidth belongs.`;
  model.set('problems', [[problem], [problem]]);
  setUps.update();
  bar.update();
  expect(field.value).toBe(line);
  expect(field.getAttribute('aria-invalid')).toBe('true');
  expect(document.body.textContent.split(problem).length - 1).toBe(1);

  field.value = '';
  field.dispatchEvent(new Event('input'));
  expect(
    (model.get('value') as (typeof job)[]).map(each => each.emulation)
  ).toEqual([{ link: null }, { link: null }]);
});

it('says once why nothing could be started, and no more when that is mended', async () => {
  const { model, bar } = shownBar([]);
  const alert = bar.element.querySelector('[role=alert]') as HTMLElement;
  model.set('start_problem', 'There is no script train.py.');
  bar.update();
  const changes = vi.fn();
  const observer = new MutationObserver(changes);
  observer.observe(alert, { subtree: true, childList: true });

  bar.update();
  await Promise.resolve();

  expect(alert.textContent).toBe('There is no script train.py.');
  expect(changes).not.toHaveBeenCalled();
  model.set('start_problem', '');
  bar.update();
  expect([alert.textContent, alert.hidden]).toEqual(['', true]);
});

it('says beside Run what Python cautions of, and no more once it is mended', () => {
  const { model, bar } = shownBar([{ entry_point: 'train.py', cluster }]);
  model.set('cautions', ['homogeneous: brings nothing.']);
  bar.update();
  const said = (): readonly string[] =>
    [...bar.element.querySelectorAll('p[role=status]')].map(
      ({ textContent }) => textContent
    );
  expect(said()).toContain('homogeneous: brings nothing.');

  model.set('cautions', []);
  bar.update();

  expect(said()).not.toContain('homogeneous: brings nothing.');
});
