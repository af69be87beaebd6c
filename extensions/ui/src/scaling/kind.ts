import { readWire, type IComparisonInfo } from '@smtc-lab/protocol';
import { comparison, drawingsOf } from '../comparison/kind.js';
import { mark, t } from '../i18n.js';
import type { IKind } from '../monitor/kind.js';
import { stateWord } from '../monitor/words.js';
import { describeStudy, studyParts } from '../study/kind.js';
import { efficiencyChart } from './efficiency_chart.js';
import { lostBars } from './lost_bars.js';

/**
 * A scaling study: a comparison whose set-ups are ordered by their devices.
 */
export const scaling: IKind<IComparisonInfo> = {
  ...comparison,
  kind: 'scaling',
  what: mark('the scaling study'),
  classes: 'smtc-study smtc-comparison smtc-scaling',
  follow: json => readWire('ComparisonInfo', json),
  describe: (info, elapsedS) => ({
    ...describeStudy(info, elapsedS),
    label: t('Scaling study %1', info.name),
    spoken: info.ended
      ? `${t(stateWord(info.state))}. ${info.sentence}`
      : info.sentence
  }),
  draw: place => studyParts(place, drawingsOf, [efficiencyChart(), lostBars()])
};
