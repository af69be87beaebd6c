import type { IEstimate, IForecastSetUp } from '@smtc-lab/protocol';
import { format, isWide } from '../charts/units.js';
import { t } from '../i18n.js';
import { cheaperText, fasterText } from '../picture/numbers.js';
import { letterOf } from '../picture/set_up_mark.js';
import { EMPTY, type IFilling, type Neck } from '../picture/shares.js';

const NO_BREAK = '\u00a0';

/**
 * Return what a picture shows of a set-up that was predicted.
 */
export function fillingOf(foreseen: IForecastSetUp | undefined): IFilling {
  if (foreseen?.stepTimeS == null) {
    return EMPTY;
  }
  return {
    shares: foreseen.utilization,
    predicted: null,
    bottleneck: neckOf(foreseen),
    limitingWorkers: foreseen.limitingWorkers,
    advice: foreseen.advice,
    usedDevices: null,
    stepsPerS: 1 / foreseen.stepTimeS.value
  };
}

/**
 * Return which part is the bottleneck: of the CPUs, those that have more to do, where data workers
 * use them all.
 */
function neckOf({
  bottleneck,
  limitingWorkers,
  utilization
}: IForecastSetUp): Neck | null {
  if (bottleneck !== 'cpu') {
    return bottleneck;
  }
  if (limitingWorkers !== null) {
    return 'workers';
  }
  const { trainerCpu, dataCpu } = utilization;
  return (dataCpu ?? -1) > (trainerCpu ?? 0) ? 'dataCpu' : 'trainerCpu';
}

/**
 * Return what the first data instances would bring: `1 × c5.9xlarge: 721 ms → 103 ms`; empty:
 * not known.
 */
export function offerText(foreseen: IForecastSetUp | undefined): string {
  if (foreseen?.added == null || foreseen.stepTimeS === null) {
    return '';
  }
  const { instanceType, stepTimeS } = foreseen.added;
  const now = format(foreseen.stepTimeS.value, 's');
  const type = instanceType.replace(/^ml\./, '');
  return `1 × ${type}: ${`${now} → ${format(stepTimeS, 's')}`.replaceAll(' ', NO_BREAK)}`;
}

/**
 * Ends of the scales that the numbers of all set-ups are drawn on.
 */
export interface IScale {
  readonly stepTimeS: number;
  readonly usdPer1000Steps: number;
}

/**
 * Return the scale that all set-ups fit on.
 */
export function scaleOf(foreseen: readonly IForecastSetUp[]): IScale {
  const ends = (of: (each: IForecastSetUp) => IEstimate | null): number =>
    Math.max(Number.MIN_VALUE, ...foreseen.map(each => of(each)?.high ?? 0));
  return {
    stepTimeS: ends(each => each.stepTimeS),
    usdPer1000Steps: ends(each => each.usdPer1000Steps)
  };
}

/**
 * Return how fast a set-up is beside the first one, in words; empty: not known, or it is that.
 *
 * @param hasEnds - Whether the ends of the ratio are told: those that both step times allow.
 */
export function fasterOf(
  foreseen: IForecastSetUp,
  first: IForecastSetUp | undefined,
  hasEnds = false
): string {
  const [before, after] = [first?.stepTimeS, foreseen.stepTimeS];
  if (before == null || after === null) {
    return '';
  }
  const ratio = before.value / after.value;
  const ends = [before.low / after.high, before.high / after.low];
  const told = fasterText(
    ratio,
    hasEnds ? (ratio > 1 ? ends : ends.reverse()) : []
  );
  return rough(told, [before, after]);
}

/**
 * Return what a step of a set-up costs beside one of the first, in words; empty: as above.
 */
export function cheaperOf(
  foreseen: IForecastSetUp,
  first: IForecastSetUp | undefined
): string {
  const [before, after] = [first?.usdPer1000Steps, foreseen.usdPer1000Steps];
  return before == null || after === null
    ? ''
    : rough(cheaperText(after.value / before.value), [before, after]);
}

/**
 * Return what is said of two numbers, with a sign before it where one of them tells hardly anything.
 */
function rough(text: string, of: readonly IEstimate[]): string {
  return of.some(isWide) ? `≈\u00a0${text}` : text;
}

/**
 * Return what set-ups should do beside the first one, in a sentence; empty: not known.
 */
export function headline(foreseen: readonly IForecastSetUp[]): string {
  const [baseline, ...others] = foreseen;
  if (baseline?.stepTimeS == null) {
    return '';
  }
  const told = others.flatMap((other, at) => {
    const beside = besideText(baseline, other);
    if (isAlike(baseline, other)) {
      return [t('For %1 no difference is predicted.', letterOf(at + 1))];
    }
    return beside === ''
      ? []
      : [
          // what is uncertain by more than the difference is no prediction of one
          areApart(
            baseline.stepTimeS as IEstimate,
            other.stepTimeS as IEstimate
          )
            ? t('%1 should be %2.', letterOf(at + 1), beside)
            : t(
                '%1 may be %2; the intervals overlap.',
                letterOf(at + 1),
                beside
              )
        ];
  });
  return told.join(' ');
}

/**
 * Return how a set-up is beside the baseline: `7.9× (7×–8.8×) faster and 75 % cheaper per
 * step`; empty: not
 * known.
 */
function besideText(baseline: IForecastSetUp, other: IForecastSetUp): string {
  const faster = fasterOf(other, baseline, true);
  const cheaper = cheaperOf(other, baseline);
  return faster === '' || cheaper === ''
    ? faster
    : t('%1 and %2 per step', faster, cheaper);
}

function isAlike(one: IForecastSetUp, other: IForecastSetUp): boolean {
  return (
    one.stepTimeS?.value === other.stepTimeS?.value &&
    one.usdPer1000Steps?.value === other.usdPer1000Steps?.value
  );
}

function areApart(one: IEstimate, other: IEstimate): boolean {
  return one.low > other.high || other.low > one.high;
}

/**
 * Return what each type of a catalog would be in the place of a group: `103 ms, $0.189`.
 *
 * @param names - Of the types, in the order of the catalog.
 */
export function offersOf(
  foreseen: IForecastSetUp | undefined,
  group: number,
  names: readonly string[]
): ReadonlyMap<string, string> {
  const offers = foreseen?.offers[group];
  const told = new Map<string, string>();
  offers?.stepTimeS.forEach((stepTimeS, at) => {
    const name = names[at];
    if (stepTimeS !== null && name !== undefined) {
      const usd = offers.usdPer1000Steps[at] ?? null;
      const cost = usd === null ? '' : `, ${format(usd, 'USD')}`;
      told.set(name, `${format(stepTimeS, 's')}${cost}`);
    }
  });
  return told;
}
