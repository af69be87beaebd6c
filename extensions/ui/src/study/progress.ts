import type { IComparisonInfo, ILaunchInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';
import { hasRounds } from './rounds.js';

/**
 * Say which launch runs, and how far it is.
 */
export function progressWords(info: IComparisonInfo): string {
  const newest = info.launched.at(-1);
  const launches = format(info.launches, 'count');
  if (newest === undefined) {
    if (info.state === 'Completed') {
      return info.launches === 0 ? '' : t('launches: %1', launches);
    }
    return info.ended
      ? t('nothing was launched')
      : t('launches: 0 of %1', launches);
  }
  const count = t(
    'launch %1 of %2',
    format(info.launched.length, 'count'),
    launches
  );
  if (info.ended) {
    return count;
  }
  const words = [newest.label, ...roundOf(newest, info), stepsOf(newest)];
  return `${count}: ${words.join(', ')}`;
}

function roundOf(
  { round }: ILaunchInfo,
  info: IComparisonInfo
): readonly string[] {
  if (!hasRounds(info)) {
    return [];
  }
  // the name of a launch beside the rounds says what it is
  return round === null
    ? []
    : [
        t(
          'round %1 of %2',
          format(round, 'count'),
          format(info.rounds, 'count')
        )
      ];
}

function stepsOf(launch: ILaunchInfo): string {
  if (launch.steps === 0) {
    return t('starting');
  }
  const steps = format(launch.steps, 'count');
  return launch.maxSteps === null
    ? t('step %1', steps)
    : t('step %1 of %2', steps, format(launch.maxSteps, 'count'));
}

/**
 * Return the share of all launches that is done, 0 to 1; steps of the newest one count. Null: it
 * is done, and its launches are not known.
 */
export function doneFraction(info: IComparisonInfo): number | null {
  const newest = info.launched.at(-1);
  if (newest === undefined && info.state === 'Completed') {
    return null;
  }
  if (newest === undefined || info.launches === 0) {
    return 0;
  }
  const part =
    newest.state === 'Completed'
      ? 1
      : newest.steps / Math.max(newest.maxSteps ?? Infinity, newest.steps, 1);
  return Math.min(1, (info.launched.length - 1 + part) / info.launches);
}
