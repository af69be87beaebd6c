import type { IComparisonInfo, ISetUpInfo } from '@smtc-lab/protocol';
import type { IAxis } from '../charts/options.js';
import { partColor } from '../charts/theme.js';
import { t } from '../i18n.js';
import type { Feed } from '../live/feed.js';
import type { IDrawing, NamedSeries } from '../monitor/charts.js';
import type { Subject } from '../monitor/subject.js';

/**
 * Describe how busy the groups of each set-up are, in its newest launch of which something has
 * come.
 */
export function chartsOfInstances(
  info: IComparisonInfo,
  feed: Feed
): readonly IDrawing[] {
  return drawings(info, feed, {
    subject: 'utilization',
    title: label => t('Utilization: %1', label),
    y: { label: t('busy'), unit: 'fraction', including: 0 },
    seriesOf: busy
  });
}

/**
 * Describe what the instances of each set-up send and receive, in its newest launch of which
 * something has come.
 */
export function chartsOfNetwork(
  info: IComparisonInfo,
  feed: Feed
): readonly IDrawing[] {
  return drawings(info, feed, {
    subject: 'network',
    title: label => t('Network: %1', label),
    y: { label: t("the run's own traffic"), unit: 'bytes/s', including: 0 },
    seriesOf: traffic
  }).filter(({ series }) => series.length > 0);
}

interface IAbout {
  readonly subject: Subject;
  readonly title: (label: string) => string;
  readonly y: IAxis;
  readonly seriesOf: (
    setUp: ISetUpInfo,
    launch: number,
    feed: Feed
  ) => readonly NamedSeries[];
}

function drawings(
  { setUps, launched }: IComparisonInfo,
  feed: Feed,
  { subject, title, y, seriesOf }: IAbout
): readonly IDrawing[] {
  return setUps.flatMap((setUp, place): readonly IDrawing[] => {
    const edition = launched
      .map(
        (launch, number) =>
          launch.setUp === place &&
          setUp.hosts.some(([host]) => feed.table(`${number}/system:${host}`))
      )
      .lastIndexOf(true);
    const drawing = (): IDrawing => ({
      ...{ key: `${subject}:${place}`, subject, edition, y },
      title: title(setUp.label),
      x: { label: t('time of the newest launch'), unit: 's' },
      series: seriesOf(setUp, edition, feed)
    });
    return edition < 0 ? [] : [drawing()];
  });
}

function busy(
  setUp: ISetUpInfo,
  launch: number,
  feed: Feed
): readonly NamedSeries[] {
  const { evidence } = setUp;
  const cpus = setUp.hosts.map(
    ([host], number): NamedSeries => ({
      ...{ x: 'time_s', evidence, as: 'line', y: 'cpu' },
      table: `${launch}/system:${host}`,
      label: t('CPU of %1', nameOf(setUp, number)),
      color: partColor('cpu', number)
    })
  );
  const device: NamedSeries = {
    ...{ x: 'time_s', evidence, as: 'rolling', window: 20, y: 'device' },
    table: `${launch}/steps`,
    label: t('device'),
    color: partColor('dev', 0)
  };
  return feed.hasNumbers(device.table, device.y) ? [...cpus, device] : cpus;
}

function traffic(
  setUp: ISetUpInfo,
  launch: number,
  feed: Feed
): readonly NamedSeries[] {
  const { evidence } = setUp;
  return setUp.hosts.flatMap(([host], number): readonly NamedSeries[] => {
    const table = `${launch}/system:${host}`;
    const line = (y: string, label: string, more: number): NamedSeries => ({
      ...{ table, x: 'time_s', y, evidence, as: 'line', label },
      color: partColor('net', 2 * number + more)
    });
    const name = nameOf(setUp, number);
    return feed.hasNumbers(table, 'received_per_s')
      ? [
          line('received_per_s', t('received by %1', name), 0),
          line('sent_per_s', t('sent by %1', name), 1)
        ]
      : [];
  });
}

/**
 * Return the group of an instance, and its host where the group has several.
 */
function nameOf({ hosts }: ISetUpInfo, number: number): string {
  const [host, group] = hosts[number] as ISetUpInfo['hosts'][number];
  const isAlone = hosts.filter(([, other]) => other === group).length === 1;
  return isAlone ? group : `${group}, ${host}`;
}
