import {
  LOCAL,
  MAX_COUNT,
  roles,
  type Catalog,
  type IJob
} from '@smtc-lab/protocol';
import { distributionOf, withField } from '../forms/distribution_field.js';

/**
 * Return a job with more devices: all of each training instance where it used one of several,
 * else twice as many instances; of this machine, which is there once, twice as many trainers.
 * Null: none can be had so.
 */
export function withMoreDevices(job: IJob, catalog: Catalog): IJob | null {
  const role = roles(job.cluster, catalog);
  const [group, ...others] = job.cluster.groups.filter(
    (_, place) => role[place] === 'train'
  );
  const given = job.rest['distribution'] ?? null;
  const count = group?.count ?? null;
  if (group === undefined || others.length > 0 || count === null) {
    return null;
  }
  const devices = catalog.get(group.instanceType)?.acceleratorCount ?? 0;
  const onAll = { ...job, rest: { ...job.rest, distribution: 'auto' } };
  if (given === null && devices > 1) {
    return onAll;
  }
  const isHere = group.instanceType === LOCAL;
  const replicas = distributionOf(job)?.['data'];
  const isCounted = typeof replicas === 'number';
  if (isHere ? given !== null && !isCounted : 2 * count > MAX_COUNT) {
    return null; // what this machine has is not known here
  }
  const grown = {
    ...group,
    count: isHere ? count : 2 * count
  };
  const groups = job.cluster.groups.map(each =>
    each === group ? grown : each
  );
  const cluster = { ...job.cluster, groups };
  if (given === null && devices > 0) {
    return { ...onAll, cluster };
  }
  const spread =
    given === null || isCounted
      ? withField(job, 'data', 2 * (isCounted ? replicas : count))
      : job; // as many as the trainers are
  return { ...spread, cluster };
}
