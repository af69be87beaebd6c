import type { IComparisonInfo } from '@smtc-lab/protocol';
import { comparison } from '../comparison/kind.js';
import { mark, t } from '../i18n.js';
import type { IKind } from '../monitor/kind.js';

/**
 * A scaling study: a comparison whose set-ups are ordered by their devices.
 */
export const scaling: IKind<IComparisonInfo> = {
  ...comparison,
  kind: 'scaling',
  what: mark('the scaling study'),
  classes: `${comparison.classes} smtc-scaling`,
  describe: (info, elapsedS, feed) => ({
    ...comparison.describe(info, elapsedS, feed),
    label: t('Scaling study %1', info.name)
  })
};
