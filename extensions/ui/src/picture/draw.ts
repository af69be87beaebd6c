import type { IInstanceType } from '@smtc-lab/protocol';
import { t } from '../i18n.js';
import { s } from '../plan/svg.js';
import {
  BOX_WIDTH,
  boxLayout,
  devicePlace,
  INSET,
  type IBox,
  type IBoxLayout
} from './layout.js';
import type { IFilling, Part } from './shares.js';

const LOGARITHM_OF_LARGEST = Math.log2(4096);

/**
 * Draw an instance: a cell for each vCPU, a larger one for each device that is filled as far as
 * it is busy, and its memory.
 *
 * @param isMarked - Whether a ring may stand round what the steps wait for.
 */
export function drawBox(
  box: IBox,
  filling: IFilling,
  isMarked: boolean
): SVGGElement {
  const { host, type, x, y, height } = box;
  const at = boxLayout(type);
  const cpu = box.role === 'data' ? 'dataCpu' : 'trainerCpu';
  const ring = (part: Part): boolean =>
    isMarked && ringedPart(filling) === part;
  const drawn = s(
    'g',
    { transform: `translate(${x} ${y})` },
    s('rect', { class: 'smtc-box', width: BOX_WIDTH, height, rx: 4 }),
    s('text', { x: INSET, y: 15 }, host),
    s(
      'text',
      { class: 'smtc-end', x: BOX_WIDTH - INSET, y: 15 },
      type === null ? '' : t('%1 vCPUs', type.vcpus)
    )
  );
  if (type !== null) {
    const { limitingWorkers } = filling;
    const numRinged = ring(cpu) ? (limitingWorkers ?? type.vcpus) : null;
    drawn.append(cells(type, at, filling.shares[cpu], numRinged));
    if (type.acceleratorCount > 0) {
      drawn.append(devices(type, at, filling, ring('device')));
    }
    drawn.append(memory(type, at));
  }
  return drawn;
}

/**
 * Return the part that has the ring: a thread and data workers are on the trainer's vCPUs.
 */
function ringedPart({ bottleneck }: IFilling): Part | null {
  return bottleneck === 'serial' || bottleneck === 'workers'
    ? 'trainerCpu'
    : bottleneck;
}

/**
 * Draw a cell for each vCPU.
 *
 * @param numRinged - Cells in the ring, from the first one; null: there is no ring.
 */
function cells(
  { vcpus }: IInstanceType,
  { cellsInRow, cellsY, pitch }: IBoxLayout,
  share: number | null,
  numRinged: number | null
): SVGGElement {
  const size = pitch - 1;
  const drawn = s('g', { class: 'smtc-cpu' }, titled(t('vCPUs'), share));
  // one path for each shade: the full ones, the one between, the idle ones
  const rest = clamped(share ?? 0) * vcpus;
  const full = Math.floor(rest + 1e-9);
  const path = (from: number, to: number): string =>
    Array.from({ length: Math.max(0, to - from) }, (_, number) => {
      const place = from + number;
      const x = INSET + (place % cellsInRow) * pitch;
      const y = cellsY + Math.floor(place / cellsInRow) * pitch;
      return `M${round(x)} ${round(y)}h${round(size)}v${round(size)}h${round(-size)}z`;
    }).join('');
  const shade = (name: string, from: number, to: number, opacity = 1): void => {
    if (from < to) {
      drawn.append(
        s('path', { class: name, d: path(from, to), opacity: round(opacity) })
      );
    }
  };
  shade(share === null ? 'smtc-unknown' : 'smtc-idle', full, vcpus);
  shade('smtc-busy', 0, full);
  shade('smtc-busy', full, Math.ceil(rest - 1e-9), rest - full);
  if (numRinged !== null) {
    const ringed = Math.max(1, Math.min(vcpus, numRinged));
    const width = Math.min(ringed, cellsInRow) * pitch;
    const height = Math.ceil(ringed / cellsInRow) * pitch;
    drawn.append(ringAround(INSET, cellsY, width - 1, height - 1));
  }
  return drawn;
}

function devices(
  type: IInstanceType,
  { devicesY }: IBoxLayout,
  { shares, predicted, usedDevices }: IFilling,
  isRinged: boolean
): SVGGElement {
  const share = shares.device;
  const used = usedDevices ?? type.acceleratorCount;
  const drawn = s(
    'g',
    {
      class: 'smtc-device',
      transform: `translate(${INSET} ${devicesY})`
    },
    titled(devicesWords(type, used), share)
  );
  const count = Math.min(type.acceleratorCount, 16);
  for (let number = 0; number < count; number += 1) {
    const { x, y, size } = devicePlace(number);
    const common = { x, width: size, rx: 2 };
    drawn.append(
      s('rect', {
        ...common,
        class: share === null ? 'smtc-unknown' : 'smtc-idle',
        y,
        height: size
      })
    );
    if (share !== null && number < used) {
      const full = size * clamped(share);
      drawn.append(
        s('rect', {
          ...common,
          class: 'smtc-busy',
          y: round(y + size - full),
          height: round(full)
        })
      );
    }
    if (predicted?.device != null && number < used) {
      const level = round(y + size * (1 - clamped(predicted.device)));
      drawn.append(
        s('path', { class: 'smtc-level', d: `M${x - 2} ${level}h${size + 4}` })
      );
    }
  }
  const inRow = Math.min(count, 4);
  const last = devicePlace(inRow - 1);
  const beside = last.x + last.size + 8;
  if (inRow < 4) {
    const name = (type.accelerator ?? '').split(' ').at(-1) ?? '';
    drawn.append(s('text', { x: beside, y: 11 }, name));
    if (share !== null) {
      drawn.append(
        s('text', { x: beside, y: 24 }, t('%1 busy', percent(share)))
      );
    }
  }
  if (isRinged) {
    const { y, size } = devicePlace(count - 1);
    drawn.append(ringAround(0, 0, last.x + last.size, y + size));
  }
  return drawn;
}

function memory(type: IInstanceType, { memoryY }: IBoxLayout): SVGGElement {
  const width = BOX_WIDTH - 2 * INSET;
  const share = Math.log2(Math.max(2, type.memoryGib)) / LOGARITHM_OF_LARGEST;
  const bar = { x: INSET, y: memoryY, height: 4, rx: 2 };
  return s(
    'g',
    { class: 'smtc-memory' },
    s('title', {}, t('%1 GiB of memory', type.memoryGib)),
    s('rect', { ...bar, class: 'smtc-idle', width }),
    s('rect', {
      ...bar,
      class: 'smtc-size',
      width: round(width * clamped(share))
    })
  );
}

/**
 * Draw a ring round what the steps wait for.
 */
function ringAround(
  x: number,
  y: number,
  width: number,
  height: number
): SVGRectElement {
  return s('rect', {
    class: 'smtc-bottleneck',
    x: round(x - 3),
    y: round(y - 3),
    width: round(width + 6),
    height: round(height + 6),
    rx: 3
  });
}

function devicesWords(
  { acceleratorCount, accelerator }: IInstanceType,
  used: number
): string {
  const devices = `${acceleratorCount} × ${accelerator ?? ''}`;
  return used < acceleratorCount ? t('%1 of %2', used, devices) : devices;
}

function titled(what: string, share: number | null): SVGTitleElement {
  const text =
    share === null
      ? t('%1: nothing is known of how busy they are', what)
      : t('%1: %2 busy', what, percent(share));
  return s('title', {}, text);
}

/**
 * Return a share as a text: `12 %`.
 */
export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

export function clamped(share: number): number {
  return Math.max(0, Math.min(1, share));
}

export function round(value: number): number {
  return Math.round(100 * value) / 100;
}
