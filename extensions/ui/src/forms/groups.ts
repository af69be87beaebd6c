import {
  roles,
  type Catalog,
  type ICluster,
  type IInstanceGroup
} from '@smtc-lab/protocol';

/**
 * A group that was taken away, and where it was.
 */
export interface IRemovedGroup {
  readonly group: IInstanceGroup;
  readonly place: number;
}

/**
 * Return the group that a cluster most likely wants next: one that prepares data beside an
 * accelerator that nobody feeds yet, else one more like the last.
 */
export function newGroup(cluster: ICluster, catalog: Catalog): IInstanceGroup {
  const feeder = feederOf(cluster);
  const last = cluster.groups.at(-1);
  const fed = { ...cluster, groups: [...cluster.groups, feeder] };
  const isFirstFeeder =
    roles(fed, catalog).filter(role => role === 'data').length === 1;
  return isFirstFeeder || last === undefined
    ? feeder
    : { ...last, name: freeName('group', cluster.groups) };
}

/**
 * Return a group that prepares data for a cluster; it says so where its type alone would not.
 */
export function dataGroup(cluster: ICluster, catalog: Catalog): IInstanceGroup {
  const feeder = feederOf(cluster);
  const fed = { ...cluster, groups: [...cluster.groups, feeder] };
  const isData = roles(fed, catalog).at(-1) === 'data';
  return isData ? feeder : { ...feeder, role: 'data' };
}

function feederOf({ groups }: ICluster): IInstanceGroup {
  return {
    name: freeName('data_group', groups),
    instanceType: 'ml.c5.9xlarge',
    count: 1,
    role: null,
    runs: null
  };
}

/**
 * Return a copy of a group under a name that is still free.
 */
export function copyOf(
  group: IInstanceGroup,
  groups: readonly IInstanceGroup[]
): IInstanceGroup {
  return { ...group, name: freeName(group.name, groups) };
}

function freeName(wish: string, groups: readonly IInstanceGroup[]): string {
  const taken = new Set(groups.map(group => group.name));
  const stem = wish.replace(/_\d+$/, '').slice(0, 58);
  let name = wish.slice(0, 64);
  for (let number = 2; taken.has(name); number += 1) {
    name = `${stem}_${number}`;
  }
  return name;
}
