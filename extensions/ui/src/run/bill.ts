import type { IRunInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';
import type { Fact } from '../monitor/facts.js';

/**
 * Return where the time of a run went, as far as it is known. Whether it is billed is said beside
 * its cost.
 *
 * Start-up and end of an emulated run are not on the scale of its steps and have no price.
 */
export function billFacts(bill: IRunInfo['bill']): readonly Fact[] {
  if (bill === null) {
    return [];
  }
  const ownNote =
    bill.evidence === 'emulated'
      ? t("this machine's own, not on the scale of the model: no price")
      : '';
  const parts = [
    [t('start-up'), bill.startupS, bill.startupUsd, ownNote],
    [t('all steps'), bill.stepsS, bill.stepsUsd, t('warm-up included')],
    [t('end'), bill.endS, bill.endUsd, ownNote]
  ] as const;
  return parts.flatMap(([name, seconds, usd, note]) =>
    seconds === null
      ? []
      : [
          [
            name,
            format(seconds, 's'),
            [usd === null ? '' : format(usd, 'USD'), note]
              .filter(words => words !== '')
              .join(', ')
          ] as const
        ]
  );
}
