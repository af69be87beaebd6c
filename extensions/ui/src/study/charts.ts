import type { IComparisonInfo, ISetUpInfo } from '@smtc-lab/protocol';
import { t } from '../i18n.js';
import type { Feed } from '../live/feed.js';
import type { IDrawing, NamedSeries } from '../monitor/charts.js';
import { stepCharts, type IStepLine } from '../monitor/step_charts.js';

/**
 * Describe the steps of all launches. A set-up has one colour in all charts; later launches are
 * drawn over earlier ones.
 */
export function chartsOfLaunches(
  info: IComparisonInfo
): readonly [IDrawing, ...IDrawing[]] {
  const { setUps, launched } = info;
  const known = launched
    .map(launch => launch.warmUpSteps)
    .filter(steps => steps > 0);
  return stepCharts(linesOf(info), {
    isPriced: setUps.some(setUp => setUp.usdPerHour !== null),
    total: t('Cost of a launch so far'),
    // a compiler's first step would else be all that a chart shows
    warmUp: known.length === 0 ? 0 : Math.min(...known),
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
  const cpus = hosts.map(([host, group], color): NamedSeries => {
    const isAlone = groups.indexOf(group) === groups.lastIndexOf(group);
    const label = isAlone
      ? t('CPU of %1', group)
      : t('CPU of %1, %2', group, host);
    const table = `${launch}/system:${host}`;
    return { ...common, table, y: 'cpu', as: 'line', label, color };
  });
  const device: NamedSeries = {
    ...common,
    table: `${launch}/steps`,
    y: 'device',
    label: t('device'),
    as: 'rolling',
    window: 20,
    color: hosts.length
  };
  return feed.hasNumbers(device.table, device.y) ? [...cpus, device] : cpus;
}
