import {
  roles,
  type Catalog,
  type ICluster,
  type IInstanceGroup,
  type IInstanceType,
  type Role
} from '@smtc-lab/protocol';

/**
 * Width of the box of an instance, in CSS pixels as all that follow.
 */
export const BOX_WIDTH = 132;

/**
 * Between the border of a box and what is in it.
 */
export const INSET = 8;

const CELLS_WIDTH = BOX_WIDTH - 2 * INSET;
const TITLE = 22;
const DEVICE = 24;
const DEVICE_PITCH = 28;
const DEVICES_IN_ROW = 4;
const STREAM = 22;
const MEMORY = 12;
const BETWEEN_BOXES = 8;
const MOST_BOXES = 4;
const MANY_CPUS = 72;
const MORE = 24;
const LEAST_GAP = 24;
const MOST_GAP = 92;

/**
 * Room at the right, for what goes from trainer to trainer.
 */
const RIGHT = 26;

/**
 * One instance.
 */
export interface IBox {
  /**
   * Its name, as a run calls it: `algo-1`.
   */
  readonly host: string;
  readonly x: number;
  readonly y: number;
  readonly height: number;

  /**
   * Null: nothing is known of its type, or it is this machine.
   */
  readonly type: IInstanceType | null;
  readonly role: Role;
}

/**
 * One group: its instances, as far as they are drawn, below each other.
 */
export interface IColumn {
  /**
   * Place of the group in the cluster, from 0.
   */
  readonly place: number;
  readonly group: IInstanceGroup;
  readonly role: Role;
  readonly x: number;
  readonly boxes: readonly IBox[];

  /**
   * Instances that are not drawn.
   */
  readonly numMore: number;

  /**
   * Where the last box ends.
   */
  readonly end: number;
}

/**
 * Where everything of a picture is.
 */
export interface ILayout {
  /**
   * Those that prepare data first, those that train at the right.
   */
  readonly columns: readonly IColumn[];

  /**
   * Left of the place for data instances; null: there are some.
   */
  readonly emptyX: number | null;
  readonly gap: number;

  /**
   * What of the width is right of the columns.
   */
  readonly right: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Where the cells, the devices and the bar of the memory of a box are.
 */
export interface IBoxLayout {
  readonly cellsInRow: number;
  readonly pitch: number;
  readonly cellsY: number;
  readonly cellsHeight: number;
  readonly devicesY: number;
  readonly devicesHeight: number;
  readonly memoryY: number;
  readonly height: number;
}

/**
 * Lay out a cluster: each group is a column.
 *
 * @param width - What there is; more than that is taken where the columns do not fit.
 */
export function layoutOf(
  cluster: ICluster,
  catalog: Catalog,
  width: number
): ILayout {
  const role = roles(cluster, catalog);
  const places = [...cluster.groups.keys()];
  const inOrder = [
    ...places.filter(place => role[place] === 'data'),
    ...places.filter(place => role[place] !== 'data')
  ];
  const hasEmpty = !role.includes('data');
  const numColumns = inOrder.length + (hasEmpty ? 1 : 0);
  const right = rightOf(cluster, role, width - least(numColumns));
  const free = width - right - numColumns * BOX_WIDTH;
  const gap = Math.max(
    LEAST_GAP,
    Math.min(MOST_GAP, free / Math.max(1, numColumns - 1))
  );
  const columns = inOrder.map((place, at) =>
    columnOf(cluster, catalog, {
      place,
      role: role[place] ?? 'train',
      x: (at + (hasEmpty ? 1 : 0)) * (BOX_WIDTH + gap)
    })
  );
  return {
    columns,
    emptyX: hasEmpty ? 0 : null,
    gap,
    right,
    width: numColumns * BOX_WIDTH + (numColumns - 1) * gap + right,
    height: Math.max(96, ...columns.map(column => column.end))
  };
}

/**
 * Return the room at the right: none where there is none to spare, and one trainer alone.
 */
function rightOf(
  { groups }: ICluster,
  role: readonly Role[],
  free: number
): number {
  const trainers = groups
    .filter((_, place) => role[place] !== 'data')
    .reduce((sum, group) => sum + countOf(group), 0);
  return trainers > 1 || free >= RIGHT ? RIGHT : 0;
}

/**
 * Return how wide so many columns are at least.
 */
function least(numColumns: number): number {
  return numColumns * BOX_WIDTH + (numColumns - 1) * LEAST_GAP;
}

function columnOf(
  cluster: ICluster,
  catalog: Catalog,
  at: Pick<IColumn, 'place' | 'role' | 'x'>
): IColumn {
  const group = cluster.groups[at.place] as IInstanceGroup;
  const type = catalog.get(group.instanceType) ?? null;
  const count = countOf(group);
  const numDrawn = count > MOST_BOXES ? MOST_BOXES - 1 : count;
  const before = cluster.groups
    .slice(0, at.place)
    .reduce((sum, other) => sum + countOf(other), 0);
  const { height } = boxLayout(type);
  const boxes = Array.from(
    { length: numDrawn },
    (_, number): IBox => ({
      host: `algo-${before + number + 1}`,
      x: at.x,
      y: 2 + number * (height + BETWEEN_BOXES),
      height,
      type,
      role: at.role
    })
  );
  const numMore = count - numDrawn;
  const end =
    2 +
    numDrawn * (height + BETWEEN_BOXES) +
    (numMore > 0 ? MORE + BETWEEN_BOXES : 0);
  return { ...at, group, boxes, numMore, end };
}

/**
 * Return where the parts of a box are, from its top.
 */
export function boxLayout(type: IInstanceType | null): IBoxLayout {
  const vcpus = type?.vcpus ?? 0;
  const cellsInRow = vcpus > MANY_CPUS ? 24 : 12;
  const pitch = CELLS_WIDTH / cellsInRow;
  const cellsHeight = Math.ceil(vcpus / cellsInRow) * pitch;
  const numDevices = type?.acceleratorCount ?? 0;
  const rows = Math.ceil(numDevices / DEVICES_IN_ROW);
  const devicesY = TITLE + cellsHeight + (rows > 0 ? STREAM : 0);
  const devicesHeight = rows * DEVICE_PITCH;
  const memoryY = devicesY + devicesHeight + 3;
  return {
    cellsInRow,
    pitch,
    cellsY: TITLE,
    cellsHeight,
    devicesY,
    devicesHeight,
    memoryY,
    height: memoryY + MEMORY
  };
}

/**
 * Return where a device of a box is, from the corner of its devices.
 */
export function devicePlace(number: number): {
  readonly x: number;
  readonly y: number;
  readonly size: number;
} {
  return {
    x: (number % DEVICES_IN_ROW) * DEVICE_PITCH,
    y: Math.floor(number / DEVICES_IN_ROW) * DEVICE_PITCH,
    size: DEVICE
  };
}

/**
 * Return where batches come in: the middle of the devices, or of the box.
 */
export function entryY({ type, y, height }: IBox): number {
  const { devicesY, devicesHeight } = boxLayout(type);
  return devicesHeight > 0 ? y + devicesY + devicesHeight / 2 : y + height / 2;
}

function countOf({ count }: IInstanceGroup): number {
  return count !== null && Number.isInteger(count) && count > 0
    ? Math.min(count, 10_000)
    : 0;
}
