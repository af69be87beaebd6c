import type {
  ISearchedInfo,
  ITrialInfo,
  ITuningInfo
} from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';

/**
 * Write a value of a hyperparameter, or the place of one among its choices.
 */
export function valueWords(
  { choices }: Pick<ISearchedInfo, 'choices'>,
  value: number | null
): string {
  if (value === null) {
    return t('unknown');
  }
  return choices.length > 0 ? (choices[value] ?? '') : format(value, 'number');
}

/**
 * Return what an axis of a hyperparameter is called.
 */
export function axisName({ name, isLog }: ISearchedInfo): string {
  return isLog ? t('%1, logarithmic', name) : name;
}

/**
 * Write the hyperparameters of a trial.
 */
export function trialWords(
  { searched }: ITuningInfo,
  trial: ITrialInfo
): string {
  const values = searched.map(
    (each, place) =>
      `${each.name} ${valueWords(each, trial.values[place] ?? null)}`
  );
  return `${t('Trial %1', trial.number)}: ${values.join(', ')}`;
}

/**
 * Return the trials whose objective is known, the best one first.
 */
export function judged({ trials }: ITuningInfo): readonly IJudged[] {
  return trials.filter((one): one is IJudged => one.objective !== null);
}

/**
 * A trial whose objective is known.
 */
export interface IJudged extends ITrialInfo {
  readonly objective: number;
}

/**
 * Return the colour of a trial by its place among others, the best one first: the better, the more
 * of the page's own colour. Hues stay those of set-ups.
 */
export function colorOf(place: number, count: number): string {
  const share = count > 1 ? 1 - place / (count - 1) : 1;
  return `color-mix(in oklab, var(--smtc-accent) ${Math.round(10 + 90 * share)}%, var(--smtc-line))`;
}
