import { LOCAL, type Catalog } from './catalog.js';
import type { ICluster, IInstanceGroup, Role } from './cluster.js';
import type { IPrice } from './generated/wire.js';
import { pythonRepr } from './python_text.js';
import { $defs } from '../schema/training_job.json';

const GROUP = $defs.InstanceGroup.properties;
const NAME = new RegExp(GROUP.instance_group_name.pattern);
const TYPE = new RegExp(GROUP.instance_type.pattern);
const COUNT = GROUP.instance_count;
const GROUPS = $defs.Cluster.properties.instance_groups;
const LONGEST_NAME = $defs.Cluster.properties.name.maxLength;

/**
 * Most instance groups that a cluster may have.
 */
export const MAX_GROUPS = GROUPS.maxItems;

/**
 * Most instances that a group may have.
 */
export const MAX_COUNT = COUNT.maximum;

/**
 * What is wrong with a cluster, and beside which field it belongs.
 */
export interface IClusterProblem {
  /**
   * Place of the group, from 0; null: the cluster as a whole.
   */
  readonly group: number | null;

  readonly field: 'name' | 'type' | 'count' | 'role' | null;

  /**
   * The same sentence that Python writes.
   */
  readonly text: string;
}

/**
 * Return what is wrong with a cluster, at once and without Python, in Python's own words.
 */
export function clusterProblems(
  cluster: ICluster,
  catalog: Catalog
): readonly IClusterProblem[] {
  const problems = [
    ...cluster.groups.flatMap(groupProblems),
    ...problemsBetween(cluster.groups),
    ...nameProblems(cluster.name)
  ];
  return problems.length > 0 ? problems : roleProblems(cluster, catalog);
}

/**
 * Return the role of each group: the one that is said outright, or else the one that follows
 * from the types. A group without an accelerator, beside one that has one, prepares data.
 */
export function roles(cluster: ICluster, catalog: Catalog): readonly Role[] {
  const accelerated = cluster.groups.map(
    group => (catalog.get(group.instanceType)?.acceleratorCount ?? 0) > 0
  );
  const isFed = accelerated.includes(true);
  return cluster.groups.map(
    (group, place) =>
      group.role ?? (isFed && !accelerated[place] ? 'data' : 'train')
  );
}

/**
 * Return the price of a cluster in USD per hour, all instances together; null: a price is unknown, or a
 * count is none.
 */
export function usdPerHour(cluster: ICluster, catalog: Catalog): number | null {
  let total = 0;
  for (const group of cluster.groups) {
    const price = priceOf(group, catalog);
    if (price === null || !isCount(group.count)) {
      return null;
    }
    total += price.usdPerHour * group.count;
  }
  return cluster.groups.length === 0 ? null : total;
}

/**
 * Return the price of one instance of a group; null: unknown.
 */
function priceOf(group: IInstanceGroup, catalog: Catalog): IPrice | null {
  return catalog.get(group.instanceType)?.price ?? null;
}

function isCount(count: number | null): count is number {
  return count !== null && Number.isInteger(count) && isWithinLimits(count);
}

function isWithinLimits(count: number): boolean {
  return count >= COUNT.minimum && count <= COUNT.maximum;
}

function groupProblems(
  group: IInstanceGroup,
  place: number
): readonly IClusterProblem[] {
  const problems: IClusterProblem[] = [];
  const add = (field: IClusterProblem['field'], text: string): void => {
    problems.push({ group: place, field, text });
  };
  if (!NAME.test(group.name)) {
    add(
      'name',
      `Instance group name ${pythonRepr(group.name.slice(0, 80))} is not 1 to 64 letters, ` +
        "digits, '_' or '-' that begin with a letter or digit. Rename the group."
    );
  }
  if (!TYPE.test(group.instanceType)) {
    add(
      'type',
      `Instance type ${pythonRepr(group.instanceType.slice(0, 80))} is not of the form ` +
        "'ml.<family>.<size>'. Write for example 'ml.c5.9xlarge', or 'local' for this machine."
    );
  }
  const { count } = group;
  if (count === null || !Number.isInteger(count)) {
    add(
      'count',
      `Cluster.instance_groups.${place}.instance_count=${count ?? 'None'} must be a whole ` +
        'number, not text, a boolean or a fraction.'
    );
  } else if (!isWithinLimits(count)) {
    const who = NAME.test(group.name)
      ? `Instance group ${pythonRepr(group.name)}`
      : 'An instance group';
    add(
      'count',
      `${who} has instance_count=${count}, but needs 1 to ${COUNT.maximum}. ` +
        'Change instance_count, or drop the group from the job.'
    );
  }
  if (group.runs !== null && group.role === 'train') {
    add('role', needlessRuns(group));
  }
  return problems;
}

function needlessRuns({ name }: IInstanceGroup): string {
  return (
    `Instance group ${pythonRepr(name)} has runs='script', but trains: trainers always run ` +
    "the script. Drop runs, or give the group role='data'."
  );
}

function problemsBetween(
  groups: readonly IInstanceGroup[]
): readonly IClusterProblem[] {
  const problems: IClusterProblem[] = [];
  if (groups.length < GROUPS.minItems || groups.length > GROUPS.maxItems) {
    problems.push({
      group: null,
      field: null,
      text:
        `A cluster has ${groups.length} instance groups, but needs 1 to ${GROUPS.maxItems}. ` +
        'Add a group, or merge groups of one type.'
    });
  }
  const names = [...new Set(groups.map(group => group.name))];
  for (const name of names) {
    const places = [...groups.keys()].filter(k => groups[k]?.name === name);
    if (places.length > 1) {
      problems.push({
        group: places.at(-1) ?? null,
        field: 'name',
        text:
          `Instance group name ${pythonRepr(name.slice(0, 80))} is used ${places.length} ` +
          'times, but must be unique in a job. Rename one of them.'
      });
    }
  }
  if (groups.length > 0 && groups.every(group => group.role === 'data')) {
    problems.push({
      group: 0,
      field: 'role',
      text:
        `Every instance group (${names.map(pythonRepr).join(', ').slice(0, 200)}) has the ` +
        "role 'data', so nothing would train. Give one group role='train'."
    });
  }
  return problems;
}

function nameProblems(name: string | null): readonly IClusterProblem[] {
  if (name === null || (name.trim() !== '' && name.length <= LONGEST_NAME)) {
    return [];
  }
  const text = `Cluster name ${pythonRepr(name.slice(0, 80))} is not 1 to 64 characters. Change it.`;
  return [{ group: null, field: 'name', text }];
}

function roleProblems(
  cluster: ICluster,
  catalog: Catalog
): readonly IClusterProblem[] {
  const isKnown = cluster.groups.every(
    ({ instanceType }) => instanceType === LOCAL || catalog.has(instanceType)
  );
  if (!isKnown) {
    return []; // Python knows more: the nearest names
  }
  const role = roles(cluster, catalog);
  if (role.includes('train')) {
    return cluster.groups.flatMap((group, place) =>
      group.runs !== null && role[place] === 'train'
        ? [{ group: place, field: 'role' as const, text: needlessRuns(group) }]
        : []
    );
  }
  const written = cluster.groups.map(groupText).join(',');
  const names = cluster.groups.map(group => group.name).join(', ');
  const text =
    `No instance group of the cluster ${written} would train: ${names} prepare data. ` +
    "Give one group role='train'.";
  return [{ group: 0, field: 'role', text }];
}

function groupText(group: IInstanceGroup): string {
  const said = [group.instanceType, group.count ?? 0, group.role, group.runs];
  return `${group.name}=${said.filter(part => part !== null).join(':')}`;
}
