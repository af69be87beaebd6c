import type { IRunInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';
import type { Fact } from '../monitor/facts.js';

/**
 * Return where the time of a run went, as far as it is known. Whether it is billed is said beside
 * its cost.
 *
 * Start-up and end of an emulated run are not in cluster time and have no price.
 */
export function billFacts({ bill, spot }: IRunInfo): readonly Fact[] {
  if (bill === null) {
    return [];
  }
  const ownNote =
    bill.evidence === 'emulated'
      ? t("this machine's own seconds, not cluster time: no price")
      : '';
  const parts = [
    [t('start-up'), bill.startupS, bill.startupUsd, ownNote],
    [t('all steps'), bill.stepsS, bill.stepsUsd, t('warm-up included')],
    [
      t('lost by interruptions'),
      bill.interruptionsS,
      bill.interruptionsUsd,
      t('interruptions: %1', format(bill.numInterruptions ?? 0, 'count'))
    ],
    [
      t('waited'),
      bill.waitedS || null,
      null,
      t('without instances, not billed')
    ],
    [t('end'), bill.endS, bill.endUsd, ownNote]
  ] as const;
  const facts = parts.flatMap(([name, seconds, usd, note]) =>
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
  return spot === null ? facts : [...facts, savingsFact(spot)];
}

/**
 * Return the savings as SageMaker tells them. What no platform bills has no spot price, so they are
 * of time.
 */
function savingsFact(spot: NonNullable<IRunInfo['spot']>): Fact {
  const seconds = [spot.billableS, spot.trainingS].map(s => format(s, 's'));
  return [
    t('Managed spot training savings'),
    format(spot.savingsFraction, 'fraction'),
    spot.toldBy === 'platform'
      ? t('%1 billable of %2 of training', ...seconds)
      : t('%1 with instances of %2 in all; no spot price is in it', ...seconds)
  ];
}
