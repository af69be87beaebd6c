import { roles, type Catalog, type IJob } from '@smtc-lab/protocol';
import { mark } from '../i18n.js';

/**
 * Return why data instances cannot take part in adding up the gradients of a job, in English;
 * null: they can. That they would bring nothing, Python says.
 */
export function whyNoReduction(
  { cluster }: IJob,
  catalog: Catalog
): string | null {
  return roles(cluster, catalog).includes('data')
    ? null
    : mark('Needs data instances: add some.');
}
