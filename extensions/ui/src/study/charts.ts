import type { IComparisonInfo, ISetUpInfo } from '@smtc-lab/protocol';
import type { IEndLabel } from '../charts/end_labels.js';
import { partColor } from '../charts/theme.js';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';
import type { Feed } from '../live/feed.js';
import type { IDrawing, NamedSeries } from '../monitor/charts.js';
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
    const { stepTimeS, usdPerHour } = setUp;
    const letter = letterOf(color);
    if (subject !== undefined || stepTimeS === null) {
      return stepTimeS === null ? [] : [{ color, text: letter }];
    }
    if (y.unit === 's') {
      return [{ color, text: `${letter} ${format(stepTimeS, 's')}` }];
    }
    const usd = (1000 * stepTimeS * (usdPerHour ?? NaN)) / SECONDS_PER_HOUR;
    return usdPerHour === null
      ? []
      : [{ color, text: `${letter} ${format(usd, 'USD')}` }];
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

/**
 * Describe how busy the groups of each set-up are, in its newest launch of which something has
 * come.
 */
export function chartsOfInstances(
  { setUps, launched }: IComparisonInfo,
  feed: Feed
): readonly IDrawing[] {
  return setUps.flatMap((setUp, place): readonly IDrawing[] => {
    const edition = launched
      .map(
        (launch, number) =>
          launch.setUp === place &&
          setUp.hosts.some(([host]) => feed.table(`${number}/system:${host}`))
      )
      .lastIndexOf(true);
    const drawing: IDrawing = {
      key: `utilization:${place}`,
      subject: 'utilization',
      edition,
      title: t('Utilization: %1', setUp.label),
      x: { label: t('time of the newest launch'), unit: 's' },
      y: { label: t('busy'), unit: 'fraction', including: 0 },
      series: seriesOf(setUp, edition, feed)
    };
    return edition < 0 ? [] : [drawing];
  });
}

function seriesOf(
  { hosts, evidence }: ISetUpInfo,
  launch: number,
  feed: Feed
): readonly NamedSeries[] {
  const groups = hosts.map(([, group]) => group);
  const common = { x: 'time_s', evidence };
  const cpus = hosts.map(([host, group], number): NamedSeries => {
    const isAlone = groups.indexOf(group) === groups.lastIndexOf(group);
    const label = isAlone
      ? t('CPU of %1', group)
      : t('CPU of %1, %2', group, host);
    const table = `${launch}/system:${host}`;
    return {
      ...{ ...common, table, y: 'cpu', as: 'line', label },
      color: partColor('cpu', number)
    };
  });
  const device: NamedSeries = {
    ...common,
    table: `${launch}/steps`,
    y: 'device',
    label: t('device'),
    as: 'rolling',
    window: 20,
    color: partColor('dev', 0)
  };
  return feed.hasNumbers(device.table, device.y) ? [...cpus, device] : cpus;
}
