import type { IComparisonInfo } from '@smtc-lab/protocol';
import type { IEndLabel } from '../charts/end_labels.js';
import type { Unit } from '../charts/options.js';
import { formatMean } from '../charts/units.js';
import { t } from '../i18n.js';
import type { IDrawing } from '../monitor/charts.js';
import {
  SECONDS_PER_HOUR,
  stepCharts,
  type IStepLine
} from '../monitor/step_charts.js';
import { letterOf } from '../picture/set_up_mark.js';
import { hasRounds } from './rounds.js';
import { roundsTable, warmUpOf } from './rounds_feed.js';

/**
 * Describe the steps of all launches. A set-up has one colour in all charts, and its rounds are
 * one line.
 *
 * @param isSingle - Whether each launch is a line of its own; later ones are drawn over earlier
 * ones.
 */
export function chartsOfLaunches(
  info: IComparisonInfo,
  isSingle = false
): readonly [IDrawing, ...IDrawing[]] {
  const { setUps, launched, rounds } = info;
  const isMerged = !isSingle && hasRounds(info) && rounds > 1;
  const isOneLine = isMerged || rounds === 1;
  const lines = isMerged ? mergedLines(info) : linesOf(info);
  const [stepTime, ...others] = stepCharts(lines, {
    isPriced: setUps.some(setUp => setUp.usdPerHour !== null),
    total: t('Cost of a launch so far'),
    // a compiler's first step would else be all that a chart shows
    warmUp: warmUpOf(info),
    predicted: setUps.map(({ label, predictedStepTimeS }, color) => ({
      label,
      color,
      of: predictedStepTimeS,
      steps: Math.max(
        0,
        ...launched
          .filter(({ setUp }) => setUp === color)
          .map(({ steps }) => steps)
      )
    }))
  });
  const shown = (drawing: IDrawing): IDrawing => ({
    ...drawing,
    edition: Number(isMerged),
    labels: isOneLine && setUps.length > 1 ? labelsOf(info, drawing) : []
  });
  return [shown(stepTime), ...others.map(shown)];
}

/**
 * Return what stands at the ends of the lines: the letter of the set-up and the number that its
 * picture and the table have.
 */
function labelsOf(
  { setUps }: IComparisonInfo,
  { y, subject }: IDrawing
): readonly IEndLabel[] {
  return setUps.flatMap((setUp, color): readonly IEndLabel[] => {
    const { stepTimeS, stepTimeIntervalS, usdPerHour } = setUp;
    const letter = letterOf(color);
    const written = (mean: number, unit: Unit): IEndLabel => ({
      color,
      text: `${letter} ${formatMean(mean, stepTimeIntervalS, unit)}`
    });
    if (subject !== undefined || stepTimeS === null) {
      return stepTimeS === null ? [] : [{ color, text: letter }];
    }
    if (y.unit === 's') {
      return [written(stepTimeS, 's')];
    }
    const usd = (1000 * stepTimeS * (usdPerHour ?? NaN)) / SECONDS_PER_HOUR;
    return usdPerHour === null ? [] : [written(usd, 'USD')];
  });
}

/**
 * Return a line for each set-up that was launched: all its rounds together.
 */
function mergedLines({
  setUps,
  launched
}: IComparisonInfo): readonly IStepLine[] {
  return setUps.flatMap(({ label, usdPerHour, evidence }, color) =>
    launched.some(({ setUp }) => setUp === color)
      ? [
          {
            ...{ table: '', label, usdPerHour, evidence, color },
            merged: (column: string, window: number) =>
              roundsTable(color, column, window)
          }
        ]
      : []
  );
}

/**
 * Return what is drawn of each launch; without set-ups, each has a colour of its own.
 */
function linesOf({
  setUps,
  launched,
  rounds,
  evidence
}: IComparisonInfo): readonly IStepLine[] {
  return launched.flatMap((launch, place): readonly IStepLine[] => {
    const table = `${place}/steps`;
    if (setUps.length === 0) {
      const { label } = launch;
      return [{ table, label, usdPerHour: null, evidence, color: place }];
    }
    const color = launch.setUp ?? -1;
    const setUp = setUps[color];
    if (setUp === undefined) {
      return [];
    }
    const label =
      rounds > 1
        ? t('%1, round %2', setUp.label, launch.round ?? 0)
        : setUp.label;
    const { usdPerHour } = setUp;
    return [{ table, label, usdPerHour, evidence: setUp.evidence, color }];
  });
}
