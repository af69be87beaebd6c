import { jobToJson, parseJob, type IJob } from '@smtc-lab/protocol';
import { expect, it, vi } from 'vitest';
import { distributionField } from '../src/forms/distribution_field.js';
import { host, labelled, type } from './forms_kit.js';

const GROUP = { instance_group_name: 'here', instance_type: 'local' };

function field(distribution: unknown) {
  const job = parseJob({
    entry_point: 'train.py',
    cluster: { instance_groups: [{ ...GROUP, instance_count: 1 }] },
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
  return { data, shard, told };
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
