import {
  LOCAL,
  type Catalog,
  type ICluster,
  type IPrice
} from '@smtc-lab/protocol';
import { mark, t } from '../i18n.js';

/**
 * What stands for a number that is not known. Never 0, never empty.
 */
export const UNKNOWN = mark('unknown');

/**
 * What stands for the price of this machine.
 */
export const NO_PRICE_HERE = mark('this machine has no price');

/**
 * Return a price without its unit, at least two decimals and at most six: `3.825`.
 *
 * Mirrors `smtc_lab.views.text.format.price_digits`; both read `tests/fixtures/prices.json`.
 */
export function priceDigits(usd: number | null): string {
  if (usd === null || !Number.isFinite(usd)) {
    return UNKNOWN;
  }
  const [whole = '', decimals = ''] = usd.toFixed(6).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${grouped}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}

/**
 * Return a price with its unit: `$3.825/h`.
 */
export function usdPerHourText(usd: number | null): string {
  return usd === null ? t(UNKNOWN) : `$${priceDigits(usd)}/h`;
}

/**
 * Return a price with where it comes from: `$3.825/h historical 2022-10-27`.
 */
export function priceText(price: IPrice | null): string {
  return price === null
    ? t('price %1', t(UNKNOWN))
    : `${usdPerHourText(price.usdPerHour)} ${price.kind} ${price.date}`;
}

/**
 * Return the price of each instance type of a cluster, with its kind and date, once.
 */
export function priceNotes(
  cluster: ICluster,
  catalog: Catalog
): readonly string[] {
  const names = new Set(cluster.groups.map(group => group.instanceType));
  return [...names].map(name => {
    return name === LOCAL
      ? `${name}: ${t(NO_PRICE_HERE)}`
      : `${name} ${priceText(catalog.get(name)?.price ?? null)}`;
  });
}
