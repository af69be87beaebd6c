import type { Cluster } from './generated/training_job.js';
import {
  listField,
  objectOf,
  optionalNumber,
  optionalText,
  textField,
  wordField
} from './read.js';

/**
 * What the instances of a group do: run optimizer steps, or prepare batches for those.
 */
export type Role = 'train' | 'data';

/**
 * One to five instance groups, as they are being edited: not all of it need be legal.
 *
 * Mirrors `smtc_lab.spec.cluster.Cluster`; both read `tests/fixtures/clusters.json`.
 */
export interface ICluster {
  readonly groups: readonly IInstanceGroup[];

  /**
   * What tables and charts call it; null: homogeneous or heterogeneous.
   */
  readonly name: string | null;
}

/**
 * Identical instances with one role.
 */
export interface IInstanceGroup {
  readonly name: string;

  /**
   * `ml.<family>.<size>`, or `local`.
   */
  readonly instanceType: string;

  /**
   * Number of instances; null: its field is empty.
   */
  readonly count: number | null;

  /**
   * Null leaves it to the types of the cluster's groups.
   */
  readonly role: Role | null;

  /**
   * `script`: its data instances run the script, which brings a data server; null: they serve.
   */
  readonly runs: 'script' | null;
}

/**
 * Read a cluster, legal or not.
 *
 * @throws {@link ProtocolError} when it has not the form of one.
 */
export function parseCluster(json: unknown): ICluster {
  const cluster = objectOf(json, 'A cluster');
  return {
    groups: listField(cluster, 'instance_groups', parseGroup),
    name: cluster['name'] === undefined ? null : optionalText(cluster, 'name')
  };
}

/**
 * Return a cluster as Python reads it.
 */
export function clusterToJson(cluster: ICluster): Cluster {
  return {
    instance_groups: cluster.groups.map(group => ({
      instance_group_name: group.name,
      instance_type: group.instanceType,
      // an empty field is null, which Python refuses with a sentence of its own
      instance_count: group.count as number,
      role: group.role,
      runs: group.runs
    })),
    name: cluster.name
  };
}

function parseGroup(json: unknown): IInstanceGroup {
  const group = objectOf(json, 'An instance group');
  const { role, runs } = group;
  return {
    name: textField(group, 'instance_group_name'),
    instanceType: textField(group, 'instance_type'),
    count:
      group['instance_count'] === undefined
        ? 1
        : optionalNumber(group, 'instance_count'),
    role:
      role === undefined || role === null
        ? null
        : wordField(group, 'role', ['train', 'data'] as const),
    runs:
      runs === undefined || runs === null
        ? null
        : wordField(group, 'runs', ['script'] as const)
  };
}
