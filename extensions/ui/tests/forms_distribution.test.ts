import { jobToJson, parseJob, type IJob } from '@smtc-lab/protocol';
import { expect, it, vi } from 'vitest';
import { distributionField } from '../src/forms/distribution_field.js';
import schema from '../../protocol/schema/training_job.json';
import { choice, host, labelled, type } from './forms_kit.js';

const HERE = [
  { instance_group_name: 'here', instance_type: 'local', instance_count: 1 }
];

function field(distribution: unknown) {
  const job = parseJob({
    entry_point: 'train.py',
    cluster: { instance_groups: HERE },
    distribution
  });
  const root = host();
  const onChange = vi.fn<(job: IJob) => void>();
  const component = distributionField(root, { job, onChange });
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
  const pipeline = labelled(root, 'Stages of a pipeline');
  const microbatches = labelled(root, 'Microbatches of a step');
  const order = choice(root, 'Order of the stages');
  const staged = { pipeline, microbatches, order };
  const tensor = labelled(root, 'Devices that share each layer');
  return { data, shard, tensor, ...staged, told };
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
