import type { IComparisonInfo } from '@smtc-lab/protocol';
import { beginOf } from '../bounded.js';
import { mark, t } from '../i18n.js';
import type { IDescription, IKind, IPlace } from '../monitor/kind.js';
import { messages } from '../monitor/messages.js';
import type { IPart } from '../monitor/part.js';
import { foldedCode } from '../monitor/section.js';
import { duration, stateWord } from '../monitor/words.js';
import { chartsOfLaunches } from './charts.js';
import { PageCharts, type Describe } from './page_charts.js';
import { pictures } from './pictures.js';
import { shareButtons } from '../share/buttons.js';
import { doneFraction, progressWords } from './progress.js';
import { readStudy } from './read.js';
import { saveButton } from './save_button.js';
import { sections } from './sections.js';
import { setUpTable } from './tables.js';
import { verdict } from './verdict.js';

/**
 * Return any kind of study, also one that another package brings: its question or its answer,
 * its launches, and what is to be said of it. It tells what a comparison tells, or a part of it.
 */
export function studyOf(kind: string): IKind<IComparisonInfo> {
  return {
    kind,
    what: mark('the study'),
    classes: 'smtc-study',
    follow: readStudy,
    describe: (info, elapsedS) => ({
      ...describeStudy(info, elapsedS),
      label: t('Study %1', info.name),
      spoken: spokenOf(info)
    }),
    draw: place =>
      studyParts(place, (shown, _, isSingle) =>
        chartsOfLaunches(shown, isSingle)
      )
  };
}

/**
 * Return what is spoken of a study: what stands on the screen of its state, and its answer.
 */
export function spokenOf({ state, reason, sentence }: IComparisonInfo): string {
  return [`${t(stateWord(state))}.`, beginOf(reason), sentence]
    .filter(words => words !== '')
    .join(' ');
}

/**
 * Describe what all studies have.
 */
export function describeStudy(
  info: IComparisonInfo,
  elapsedS: number | null
): Omit<IDescription, 'label' | 'spoken'> {
  return {
    name: info.name,
    done: doneFraction(info),
    progress: [
      progressWords(info),
      ...elapsedOf(info, elapsedS),
      ...(info.isBilled === false ? [t('nothing is billed')] : [])
    ].join(' · '),
    facts:
      info.isBilled === true && !info.ended
        ? [
            [
              t('cost'),
              t('billed until it ends or is stopped'),
              '',
              'is-billed'
            ]
          ]
        : [],
    reason: info.reason
  };
}

/**
 * Return how long a study has lasted; nothing, where it is over and none of its launches is known.
 */
function elapsedOf(
  info: IComparisonInfo,
  elapsedS: number | null
): readonly string[] {
  const isKnown = info.launched.length > 0 || info.state !== 'Completed';
  return isKnown ? [duration(elapsedS ?? 0)] : [];
}

/**
 * Return what is drawn of all studies: the answer, the sections of its kind, the pictures, the charts
 * that matter, the table, and all else folded.
 *
 * @param describe - Describes their charts, but for those of the instances.
 */
export function studyParts(
  { model, feed }: IPlace,
  describe: Describe
): readonly IPart<IComparisonInfo>[] {
  const charts = new PageCharts(feed, describe);
  return [
    verdict(),
    ...sections(model),
    pictures(),
    charts.first(),
    setUpTable(),
    ...charts.folds(),
    messages(({ findings, notes }) => ({ findings, notes })),
    saveButton(model),
    shareButtons(model),
    foldedCode(t('Code that does the same'))
  ];
}
