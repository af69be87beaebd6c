import type { IMeasuredIn } from '@smtc-lab/protocol';
import { t } from '../i18n.js';

/**
 * Return where a number of the ladder is from: `measured 2026-11-03 in digits-…, 1 × local`.
 */
export function whereFrom(measured: IMeasuredIn): string {
  const { created, name, instances, isScriptChanged } = measured;
  const said = t(
    'Measured %1 in %2 on %3.',
    created.slice(0, 10),
    name,
    instances
  );
  return isScriptChanged
    ? `${said} ${t('The script was changed since.')}`
    : said;
}
