import { LOCAL, type IInstanceType } from '@smtc-lab/protocol';
import { priceText, UNKNOWN } from './price.js';
import { t } from '../i18n.js';

/**
 * Return what an instance type has and costs, in one line.
 */
export function described(
  name: string,
  type: IInstanceType | undefined
): string {
  if (type === undefined) {
    return name === LOCAL ? t('This machine as it is, without a price.') : '';
  }
  const parts = [t('%1 vCPUs', type.vcpus), t('%1 GiB', type.memoryGib)];
  if (type.accelerator !== null) {
    parts.push(`${type.acceleratorCount} × ${type.accelerator}`);
  }
  parts.push(
    t('%1 Gbit/s', type.networkGbps ?? t(UNKNOWN)),
    priceText(type.price)
  );
  return parts.join(', ');
}

/**
 * Return how many types a search has found.
 *
 * @param nearTo - What was searched for, where none is called so; null: some are.
 */
export function foundText(
  found: number,
  all: number,
  nearTo: string | null
): string {
  if (found === 0) {
    return t(
      'None of the %1 types fits. Clear a filter, or search for less.',
      all
    );
  }
  return nearTo === null
    ? t('%1 of %2 types', found, all)
    : t('No type is called “%1”; %2 are nearly', nearTo, found);
}
