import type { IComparisonInfo, ISetUpInfo } from '@smtc-lab/protocol';
import { format } from '../../charts/units.js';
import { t } from '../../i18n.js';
import { letterOf } from '../../picture/set_up_mark.js';
import { CAUSES, type Cause } from './causes.js';

/**
 * A part of a bar.
 */
export interface IPaid {
  readonly cause: Cause;
  readonly usd: number;
  readonly isWaiting: boolean;
}

/**
 * What one set-up is paid for.
 */
export interface IBar {
  /**
   * Place of the set-up.
   */
  readonly place: number;
  readonly label: string;

  /**
   * None: `why` says why nothing is known.
   */
  readonly parts: readonly IPaid[];

  /**
   * All parts together, in USD.
   */
  readonly usd: number;
  readonly why: string;
}

/**
 * Return what 1,000 steps of each set-up are paid for; none, where nobody tells it of any.
 */
export function barsOfSteps(info: IComparisonInfo): readonly IBar[] {
  const { setUps, stepsCost, ended } = info;
  const isPriced = setUps.some(({ usdPerHour }) => usdPerHour !== null);
  // an older version did not tell
  if (!isPriced || (ended && stepsCost.length === 0)) {
    return [];
  }
  const paid = stepsCost.map(({ usdPer1000Steps: usd, ...part }) => ({
    ...part,
    usd
  }));
  return setUps.map((setUp, place) => barOf(setUp, place, paid));
}

/**
 * Return what a launch of each set-up is paid for, of those that are on one scale.
 */
export function barsOfLaunches({
  setUps,
  launchCost
}: IComparisonInfo): readonly IBar[] {
  return setUps
    .map((setUp, place) => barOf(setUp, place, launchCost))
    .filter(({ parts }) => parts.length > 0);
}

/**
 * Return the causes that any bar has, in the order in which a bar has them.
 */
export function causesOf(bars: readonly IBar[]): readonly Cause[] {
  const found = new Set(
    bars.flatMap(({ parts }) => parts.map(({ cause }) => cause))
  );
  return (Object.keys(CAUSES) as Cause[]).filter(cause => found.has(cause));
}

/**
 * Say how much of a bar is paid for waiting, or why there is no bar.
 */
export function waitingWords({ parts, usd, why }: IBar): string {
  if (parts.length === 0) {
    return why;
  }
  const waiting = sumOf(parts.filter(({ isWaiting }) => isWaiting));
  const values = [
    format(waiting, 'USD'),
    format(usd > 0 ? waiting / usd : 0, 'fraction')
  ];
  return parts.some(({ cause }) => CAUSES[cause].filling === 'open')
    ? t('at least %1 of it for waiting, %2', ...values)
    : t('%1 of it for waiting, %2', ...values);
}

/**
 * Name a set-up, its cost and the parts of it in one sentence.
 */
export function barWords(bar: IBar): string {
  const parts = bar.parts.map(
    ({ cause, usd }) => `${t(CAUSES[cause].words)} ${format(usd, 'USD')}`
  );
  const total = parts.length === 0 ? '' : ` ${format(bar.usd, 'USD')}`;
  const head = `${letterOf(bar.place)} ${bar.label}:${total}`;
  return [head, ...parts, waitingWords(bar)].join(', ');
}

function barOf(
  { label, usdPerHour }: ISetUpInfo,
  place: number,
  paid: readonly (IPaid & { readonly setUp: number })[]
): IBar {
  const order = Object.keys(CAUSES);
  const parts = paid
    .filter(({ setUp }) => setUp === place)
    .sort((a, b) => order.indexOf(a.cause) - order.indexOf(b.cause));
  const why =
    usdPerHour === null ? t('unknown: a price is unknown') : t('has not run');
  return { place, label, parts, usd: sumOf(parts), why };
}

function sumOf(parts: readonly IPaid[]): number {
  return parts.reduce((sum, { usd }) => sum + usd, 0);
}
