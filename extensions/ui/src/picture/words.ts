import type { ICluster } from '@smtc-lab/protocol';
import { mark, t } from '../i18n.js';
import { percent } from './draw.js';
import type { ILayout } from './layout.js';
import type { IFilling, Neck } from './shares.js';

const WAITS_FOR: Readonly<Record<Neck, string>> = {
  trainerCpu: mark('the vCPUs of the trainers are full'),
  dataCpu: mark('the vCPUs of the data instances are full'),
  device: mark('the device, as it should be'),
  network: mark('the network'),
  serial: mark('one thread of each trainer, which more vCPUs do not help'),
  workers: mark('data workers, which are fewer than the vCPUs')
};

/**
 * Return what the steps wait for and what that leaves idle, in a sentence; empty: not known.
 */
export function bottleneckText(filling: IFilling, { emptyX }: ILayout): string {
  const { bottleneck, shares, limitingWorkers, advice } = filling;
  if (bottleneck === null) {
    return '';
  }
  if (limitingWorkers !== null && shares.device !== null) {
    return `${feedersText(limitingWorkers, shares.device)} ${advice}`.trim();
  }
  const parts = [t('Bottleneck: %1.', t(WAITS_FOR[bottleneck]))];
  if (bottleneck !== 'device' && shares.device !== null) {
    parts.push(
      t('Devices wait %1 of the time.', percent(1 - Math.min(1, shares.device)))
    );
  }
  if (bottleneck === 'trainerCpu' && emptyX !== null) {
    parts.push(t('Data instances would help.'));
  }
  if (bottleneck === 'device' && shares.dataCpu !== null) {
    const idle = percent(1 - Math.min(1, shares.dataCpu));
    parts.push(t('Data instances are idle %1 of the time.', idle));
  }
  return parts.join(' ');
}

/**
 * Return what too few data workers leave of the devices, as a plan says it.
 */
function feedersText(workers: number, device: number): string {
  const share = percent(Math.min(1, device));
  switch (workers) {
    case 0:
      return t(
        'CPU-bound: the trainers, which prepare their samples themselves, feed %1 of the devices.',
        share
      );
    case 1:
      return t('CPU-bound: 1 data worker feeds %1 of the devices.', share);
    default:
      return t(
        'CPU-bound: %1 data workers feed %2 of the devices.',
        workers,
        share
      );
  }
}

/**
 * Return what a picture shows, for those who do not see it.
 */
export function describedPicture(
  { groups }: ICluster,
  layout: ILayout,
  filling: IFilling
): string {
  const told = layout.columns.map(({ group, role }) =>
    role === 'data'
      ? t('%1 × %2 prepares data', group.count ?? 0, group.instanceType)
      : t('%1 × %2 trains', group.count ?? 0, group.instanceType)
  );
  const whole = groups.length === 0 ? t('No instances') : told.join(', ');
  return [`${whole}.`, bottleneckText(filling, layout)].join(' ').trim();
}
