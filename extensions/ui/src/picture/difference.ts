import { roles, type Catalog, type ICluster } from '@smtc-lab/protocol';
import { t } from '../i18n.js';
import type { IColumn } from './layout.js';

/**
 * Return what sets a group apart from the one of a baseline that does the same; empty: nothing.
 *
 * @param baseline - Null: there is none.
 */
export function differenceOf(
  { group, role, place }: IColumn,
  baseline: ICluster | null,
  catalog: Catalog
): string {
  if (baseline === null) {
    return '';
  }
  const does = roles(baseline, catalog);
  const alike = baseline.groups.filter((_, at) => does[at] === role);
  const other =
    alike.find(({ name }) => name === group.name) ??
    (alike.length === 1 ? alike[0] : undefined) ??
    (does[place] === role ? baseline.groups[place] : undefined);
  if (other === undefined) {
    return t('not in A');
  }
  if (other.instanceType !== group.instanceType) {
    return t('A: %1', other.instanceType.replace(/^ml\./, ''));
  }
  return other.count === group.count ? '' : t('A has %1', other.count ?? 0);
}
