import { jobToJson, parseJob, type IJob } from '@smtc-lab/protocol';
import { expect, it, vi } from 'vitest';
import { distributionField } from '../src/forms/distribution_field.js';
import schema from '../../protocol/schema/training_job.json';
import { catalog, choice, host, labelled, type } from './forms_kit.js';

const HERE = [
  { instance_group_name: 'here', instance_type: 'local', instance_count: 1 }
];

function groupsOf(trainers: number, feeders: number) {
  return [
    {
      instance_group_name: 'dnn_group',
      instance_type: 'ml.p3.2xlarge',
      instance_count: trainers
    },
    {
      instance_group_name: 'data_group',
      instance_type: 'ml.c5.9xlarge',
      instance_count: feeders
    }
  ].filter(group => group.instance_count > 0);
}

function field(distribution: unknown, groups: readonly object[] = HERE) {
  const job = parseJob({
    entry_point: 'train.py',
    cluster: { instance_groups: groups },
    distribution
  });
  const root = host();
  const onChange = vi.fn<(job: IJob) => void>();
  const component = distributionField(root, { job, catalog, onChange });
  const told = () => {
    const [changed] = onChange.mock.lastCall ?? [];
    if (changed === undefined) {
      throw new Error('Nothing was told.');
    }
    component.update({ job: changed });
    return jobToJson(changed).distribution;
  };
  const data = labelled(root, 'Replicas of the model');
  const shard = labelled(root, 'Devices that share one replica');
  const reducers = choice(root, 'Gradients are added up by');
  const note = () => root.querySelector('.smtc-field:last-child')?.textContent;
  const pipeline = labelled(root, 'Stages of a pipeline');
  const microbatches = labelled(root, 'Microbatches of a step');
  const order = choice(root, 'Order of the stages');
  const staged = { pipeline, microbatches, order };
  const tensor = labelled(root, 'Devices that share each layer');
  return { data, shard, tensor, ...staged, reducers, note, told };
}

it('shows replicas, and how many devices share one', () => {
  const { data, shard } = field({ data: 2, shard: 4 });

  expect([data.value, shard.value]).toEqual(['2', '4']);
});

it.each([null, 'auto', { data: null, shard: 1 }])(
  'is empty for %j',
  distribution => {
    const { data, shard } = field(distribution);

    expect([data.value, shard.value]).toEqual(['', '']);
  }
);

it('tells a distribution while it is typed, and none when it is emptied', () => {
  const { data, shard, told } = field(null);

  type(data, '2');
  expect(told()).toEqual({ data: 2 });
  type(shard, '4');
  expect(told()).toEqual({ data: 2, shard: 4 });
  type(shard, '');
  expect(told()).toEqual({ data: 2 });
  type(data, '');
  expect(told()).toBeNull();
});

it('divides layers, and keeps what has no field', () => {
  const { shard, tensor, told } = field({
    shard: 2,
    activation_checkpointing: true
  });

  type(tensor, '4');
  expect(told()).toEqual({
    shard: 2,
    activation_checkpointing: true,
    tensor: 4
  });
  type(shard, '');
  told();
  type(tensor, '');
  expect(told()).toEqual({ activation_checkpointing: true });
});

it('lets data instances add up gradients, and takes it back', () => {
  const { data, reducers, told } = field({ data: 4 }, groupsOf(4, 2));

  type(reducers, 'data_group');
  expect(told()).toEqual({ data: 4, reduce_on: 'data_group' });
  type(reducers, 'auto');
  expect(told()).toEqual({ data: 4, reduce_on: 'auto' });
  type(data, '');
  expect(told()).toEqual({ reduce_on: 'auto' });
  type(reducers, '');
  expect(told()).toBeNull();
});

it('says why data instances cannot', () => {
  const { reducers, note } = field({ data: 4 }, groupsOf(4, 0));

  expect(reducers.disabled).toBe(true);
  expect(note()).toContain('Needs data instances');
});

it('lets what brings nothing be chosen, which Python says', () => {
  const { reducers, told } = field({ data: 2 }, groupsOf(2, 2));

  type(reducers, 'data_group');

  expect(told()).toEqual({ data: 2, reduce_on: 'data_group' });
});

it('lets that be taken back where it brings nothing any more', () => {
  const { reducers, note, told } = field(
    { data: 2, reduce_on: 'data_group' },
    groupsOf(2, 0)
  );

  expect(reducers.disabled).toBe(false);
  expect(note()).toContain('Needs data instances');
  type(reducers, '');
  expect(told()).toEqual({ data: 2 });
});

it('cuts a model into stages, and takes back what only these have', () => {
  const { pipeline, microbatches, order, told } = field(null);
  expect([microbatches.disabled, order.disabled]).toEqual([true, true]);

  type(pipeline, '2');
  expect(told()).toEqual({ pipeline: 2 });
  expect([microbatches.disabled, order.disabled]).toEqual([false, false]);
  type(microbatches, '8');
  expect(told()).toEqual({ pipeline: 2, microbatches: 8 });
  type(order, 'gpipe');
  expect(told()).toEqual({ pipeline: 2, microbatches: 8, schedule: 'gpipe' });
  type(pipeline, '');
  expect(told()).toBeNull();
});

it('offers every order that the spec knows, and shows the usual one first', () => {
  const { order } = field({ pipeline: 2, microbatches: null });
  const known = schema.$defs.Distribution.properties.schedule;

  expect(order.value).toBe(known.default);
  expect([...order.options].map(({ value }) => value).sort()).toEqual(
    [...known.enum].sort()
  );
});
