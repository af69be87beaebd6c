import {
  LOCAL,
  pythonRepr,
  usdPerHour,
  type Catalog,
  type ICluster,
  type IClusterProblem
} from '@smtc-lab/protocol';
import { NO_PRICE_HERE, priceNotes, UNKNOWN, usdPerHourText } from './price.js';
import { t } from '../i18n.js';

/**
 * Return problems together with those that only Python found, which stand beside the field of a
 * type where they are about one.
 */
export function withPythons(
  own: readonly IClusterProblem[],
  texts: readonly string[],
  cluster: ICluster
): readonly IClusterProblem[] {
  const known = new Set(own.map(problem => problem.text));
  const others = texts.filter(text => !known.has(text));
  return [
    ...own,
    ...others.map(text => {
      const place = cluster.groups.findIndex(group =>
        text.startsWith(`Instance type ${pythonRepr(group.instanceType)} `)
      );
      return place < 0
        ? { group: null, field: null, text }
        : { group: place, field: 'type' as const, text };
    })
  ];
}

/**
 * Return what an hour of a cluster costs, and how its prices are known.
 */
export function totalText(cluster: ICluster, catalog: Catalog): string {
  const counts = cluster.groups.map(group => group.count ?? 0);
  const count = counts.reduce((sum, each) => sum + each, 0);
  const price = usdPerHour(cluster, catalog);
  const total =
    price === null ? t('Price %1', t(UNKNOWN)) : usdPerHourText(price);
  const instances = count === 1 ? t('1 instance') : t('%1 instances', count);
  if (cluster.groups.every(({ instanceType }) => instanceType === LOCAL)) {
    return `${instances}: ${t(NO_PRICE_HERE)}.`;
  }
  const notes = priceNotes(cluster, catalog).join('; ');
  return t('%1 for %2. Prices: %3.', total, instances, notes);
}
