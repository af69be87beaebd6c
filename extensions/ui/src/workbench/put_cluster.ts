import {
  roles,
  type Catalog,
  type ICluster,
  type IInstanceGroup,
  type IPlannedGroup
} from '@smtc-lab/protocol';

const NAMES = { train: 'train_group', data: 'data_group' } as const;

/**
 * Return a cluster with the instances of a planned one. A group keeps its name where there is one
 * that does the same.
 */
export function withPlanned(
  cluster: ICluster,
  planned: readonly IPlannedGroup[],
  catalog: Catalog
): ICluster {
  const does = roles(cluster, catalog);
  const groups = planned.map(({ role, instanceType, instanceCount }) => {
    const own = cluster.groups.find((_, place) => does[place] === role);
    return {
      name: own?.name ?? NAMES[role],
      instanceType,
      count: instanceCount,
      role: null,
      runs: null
    };
  });
  return { ...cluster, groups: withRoles(groups, planned, catalog) };
}

/**
 * Return whether a cluster has just the instances of a planned one.
 */
export function isPlanned(
  cluster: ICluster,
  planned: readonly IPlannedGroup[],
  catalog: Catalog
): boolean {
  const does = roles(cluster, catalog);
  return (
    cluster.groups.length === planned.length &&
    planned.every(({ role, instanceType, instanceCount }) =>
      cluster.groups.some(
        (group, place) =>
          does[place] === role &&
          group.instanceType === instanceType &&
          group.count === instanceCount
      )
    )
  );
}

/**
 * Return groups that do what was planned: those say so whose types alone would not.
 */
function withRoles(
  groups: readonly IInstanceGroup[],
  planned: readonly IPlannedGroup[],
  catalog: Catalog
): readonly IInstanceGroup[] {
  const does = roles({ groups, name: null }, catalog);
  return planned.every(({ role }, place) => does[place] === role)
    ? groups
    : groups.map((group, place) => ({
        ...group,
        role: planned[place]?.role ?? null
      }));
}
