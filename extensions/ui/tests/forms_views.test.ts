import { expect, it } from 'vitest';
import environments from '../../../tests/fixtures/environments.json';
import { viewNamed } from '../src/views.js';
import {
  button,
  catalogJson,
  FakeModel,
  host,
  labelled,
  press,
  problemsIn,
  type
} from './forms_kit.js';

function shown(view: string, values: Record<string, unknown>) {
  const model = new FakeModel({
    catalog: catalogJson,
    code: 'x = 1',
    ...values
  });
  const el = host();
  const state = viewNamed(view).initialize(model);
  const dispose = viewNamed(view).render({ model, el, state });
  return { model, el, dispose };
}

const CLUSTER = {
  instance_groups: [
    {
      instance_group_name: 'dnn',
      instance_type: 'ml.p3.2xlarge',
      instance_count: 1,
      role: null,
      runs: null
    }
  ],
  name: null
};

const SETTINGS = {
  value: null,
  problems: [],
  batch_size: null,
  base_batch_size: null,
  learning_rate: null,
  optimizer: 'AdamW',
  rule: null,
  batch_size_name: 'batch_size',
  learning_rate_name: 'learning_rate',
  job_steps: null
};

it('saves a chosen type', () => {
  const { el, model } = shown('instance-type-picker', { value: 'local' });
  const input = labelled(el, 'Instance type');

  type(input, 'p4d');
  press(input, 'Enter');

  expect(model.saved.at(-1)?.['value']).toBe('ml.p4d.24xlarge');
});

it('saves a cluster as Python reads it', () => {
  const { el, model } = shown('cluster-designer', {
    value: CLUSTER,
    problems: []
  });

  type(labelled(el, 'Count'), '2');
  type(labelled(el, 'Name of the cluster'), 'mine');

  const [group] = CLUSTER.instance_groups;
  expect(model.saved.at(-1)?.['value']).toEqual({
    instance_groups: [{ ...group, instance_count: 2 }],
    name: 'mine'
  });
});

it('shows a cluster that Python assigned, in every place', () => {
  const { el, model } = shown('cluster-designer', {
    value: CLUSTER,
    problems: []
  });

  model.set('value', { ...CLUSTER, name: 'from Python' });
  model.set('problems', ['Python says no.']);

  expect(labelled(el, 'Name of the cluster').value).toBe('from Python');
  expect(problemsIn(el)).toEqual(['Python says no.']);
});

it.each([{}, { instance_groups: 'x' }, null, 7])(
  'lets one begin anew where the value is %j',
  value => {
    const { el, model } = shown('cluster-designer', {
      value,
      problems: ['Python says no.']
    });

    button(el, 'Add').click();

    expect(problemsIn(el)).toContain('Python says no.');
    expect(model.saved.at(-1)?.['value']).toMatchObject({
      instance_groups: [{ instance_group_name: 'data_group' }]
    });
  }
);

it('saves compiler settings and numbers under their names', () => {
  const { el, model } = shown('compiler-settings', SETTINGS);

  type(labelled(el, 'Compiler'), 'xla');
  type(labelled(el, 'Batch size'), '64');
  type(labelled(el, 'Batch size is passed as'), 'bs');

  expect(model.saved.at(-1)).toMatchObject({
    value: { backend: 'xla', enabled: true },
    batch_size: 64,
    batch_size_name: 'bs'
  });
});

it('shows a problem of the batch size beside its field only', () => {
  const problem = 'batch_size=0 is not above 0. Give a number above 0.';
  const { el } = shown('compiler-settings', {
    ...SETTINGS,
    batch_size: 0,
    problems: [problem]
  });

  expect(problemsIn(el)).toEqual([problem]);
});

it('has the environment of XLA made', () => {
  const { el, model } = shown('compiler-settings', {
    ...SETTINGS,
    value: { backend: 'xla' },
    environments
  });
  expect(problemsIn(el)).toEqual([environments.no_xla]);

  button(el, 'Make it').click();
  model.set('environments', {
    ...environments,
    making: { state: 'making', sentence: 'Resolving its packages.' }
  });

  expect(model.sent.at(-1)).toEqual({ type: 'make-xla' });
  expect(el.textContent).toContain('Resolving its packages.');
});

it.each([
  ['instance-type-picker', { value: 'local' }, []],
  ['cluster-designer', { value: CLUSTER, problems: [] }, []],
  ['compiler-settings', SETTINGS, [{ type: 'environments' }]]
])(
  '%s asks for no more than it shows, and leaves nothing behind',
  (...given) => {
    const [view, values, asked] = given;
    const { dispose, model } = shown(view, values);

    dispose();

    expect(model.sent).toEqual(asked);
    expect(model.numCallbacks).toBe(0);
  }
);
