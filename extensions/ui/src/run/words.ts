import type { IRunInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';

/**
 * Say what the numbers of a run are, or how it is emulated.
 */
export function evidenceWords(run: IRunInfo): string {
  if (run.evidence === 'measured') {
    return run.runsHere ? t('on this machine') : t('on the instances');
  }
  return run.emulation;
}

/**
 * Say how far a run is.
 */
export function stepWords(steps: number, maxSteps: number | null): string {
  const made = format(steps, 'count');
  return maxSteps === null
    ? t('%1 steps', made)
    : t('%1 of %2 steps', made, format(maxSteps, 'count'));
}

/**
 * Say why there is nothing of the steps to show.
 */
export function emptyWords(run: IRunInfo): string {
  if (run.steps === null) {
    return t('Reading what the run has recorded …');
  }
  if (run.steps > 0) {
    return t('Adding up the steps …');
  }
  if (run.ended) {
    return t('This run recorded no step.');
  }
  return run.state === 'Pending'
    ? t('Starting the instances …')
    : t('Starting: the instances are up, and no step has ended yet.');
}
