import { format } from '@smtc-lab/ui/charts/units.js';
import { usdPerHourText } from '@smtc-lab/ui/forms/price.js';
import { t } from '@smtc-lab/ui/i18n.js';
import { stateWord } from '@smtc-lab/ui/monitor/words.js';
import type { IRow } from '@smtc-lab/protocol';
import { isLive } from '../connection/row.js';
import { kindWord } from '../kind_words.js';
import { priceWords } from '../price_words.js';
import type { Texts } from '../texts.js';

/**
 * Return what a row is called: a launch by what is launched, which its study tells apart; the
 * name of its folder is in the tooltip.
 */
export function nameWords({ name, launch, round }: IRow): string {
  if (launch === '') {
    return name;
  }
  return round === null ? launch : t('%1, round %2', launch, round);
}

const STAMP = /-(\d{4}-\d{6}-\d{3}|\d{8}-\d{6}-\d{6})$/;

/**
 * Return what is seen of the name of a row, and what tells it from those that begin alike: its
 * round, or when it began.
 */
export function shortName(row: IRow): readonly [string, string] {
  const { name, launch, round, startedS } = row;
  if (launch !== '') {
    return [launch, round === null ? '' : t(', round %1', round)];
  }
  const stem = name.replace(STAMP, '');
  return stem === name || startedS === null
    ? [name, '']
    : [stem, momentWords(startedS, Date.now() / 1000)];
}

/**
 * Return when something began, as a clock here shows it; with the date where it was another day.
 */
export function momentWords(startedS: number, nowS: number): string {
  const [then, now] = [startedS, nowS].map(time => new Date(1000 * time));
  const two = (value: number): string => String(value).padStart(2, '0');
  const at = then as Date;
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two);
  return at.toDateString() === now?.toDateString()
    ? ` ${clock.join(':')}`
    : ` ${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock.slice(0, 2).join(':')}`;
}

/**
 * Return what is told first of a row: its state, and how fast it is.
 */
export function stateFacts(row: IRow, texts: Texts): readonly string[] {
  return told([
    stateWords(row, texts),
    row.stepTimeS === null
      ? null
      : texts.__('%1 per step', format(row.stepTimeS, 's')),
    row.evidence === 'emulated' ? texts.__('emulated') : null
  ]);
}

/**
 * Return what else is told of a row: what it is, how far, at what price,
 * and why it ended.
 */
export function rowFacts(row: IRow, texts: Texts): readonly string[] {
  return told([
    kindWord(row.kind, texts),
    isLive(row) && row.usdPerHour !== null
      ? priceWords(usdPerHourText(row.usdPerHour), row.isBilled, texts)
      : null,
    row.usdSoFar === null ? null : spentWords(row, row.usdSoFar, texts),
    stepWords(row, texts),
    // data of users, so not in anybody's language
    isLive(row) || row.reason === '' ? null : row.reason
  ]);
}

/**
 * Return the share of the steps that are made, 0 to 1; null: it is not known, or it has ended.
 */
export function progress(row: IRow): number | null {
  if (!isLive(row) || row.steps === null || row.maxSteps === null) {
    return null;
  }
  return Math.min(1, row.steps / Math.max(1, row.maxSteps));
}

/**
 * Return a state in the reader's language.
 */
export function stateWords(row: IRow, texts: Texts): string {
  return texts.__(stateWord(row.state, row.secondary));
}

function spentWords(row: IRow, usd: number, texts: Texts): string {
  const spent = format(usd, 'USD');
  return row.isBilled === false && !isLive(row)
    ? texts.__('would have cost %1', spent)
    : spent;
}

function stepWords(row: IRow, texts: Texts): string | null {
  if (row.steps === null) {
    return null;
  }
  const steps = format(row.steps, 'count');
  return row.maxSteps === null
    ? texts.__('%1 steps', steps)
    : texts.__('%1 of %2 steps', steps, format(row.maxSteps, 'count'));
}

function told(facts: readonly (string | null)[]): readonly string[] {
  return facts.filter(fact => fact !== null);
}
