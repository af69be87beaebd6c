import type { IRunInfo } from '@smtc-lab/protocol';
import type { Unit } from '../charts/options.js';
import { partColor } from '../charts/theme.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import type { Feed } from '../live/feed.js';
import { Charts, type IDrawing, type NamedSeries } from '../monitor/charts.js';
import type { IPart } from '../monitor/part.js';
import { interruptedTimes } from './interruptions.js';

/**
 * How busy CPUs, devices, memory and network of each instance are, over time; CPUs and devices
 * as lines or as a heat map.
 */
export function utilization(feed: Feed): IPart<IRunInfo> {
  let isHeat = false;
  let shown: IRunInfo | null = null;
  const charts = new Charts<IRunInfo>(feed, run => ({
    charts: drawingsOf(run, feed, isHeat),
    note: noteOf(run, feed)
  }));
  const press = (): void => {
    isHeat = !isHeat;
    toggle.setAttribute('aria-pressed', String(isHeat));
    if (shown !== null) {
      charts.update(shown);
    }
  };
  const toggle = button(t('Heat map'), press, { 'aria-pressed': 'false' });
  const row = h('div', { class: 'smtc-row' }, toggle);
  return {
    element: h('div', {}, row, charts.element),
    update(run) {
      shown = run;
      charts.update(run);
    },
    dispose() {
      charts.dispose();
    }
  };
}

function drawingsOf(
  run: IRunInfo,
  feed: Feed,
  isHeat: boolean
): readonly IDrawing[] {
  const { evidence } = run;
  const hosts = hostsOf(run, feed);
  const line = (
    { table, label, number }: IHost,
    part: Parameters<typeof partColor>[0],
    y: string,
    more: Partial<NamedSeries> = {}
  ): NamedSeries => ({
    ...{ table, label, x: 'time_s', y, as: 'line', evidence },
    ...{ color: partColor(part, number), ...more }
  });
  const trainers = { table: 'steps', label: deviceWords(run), number: 0 };
  const networks = hosts.filter(({ table }) =>
    feed.hasNumbers(table, 'received_per_s')
  );
  const lines = [
    drawing(
      t('CPU'),
      'fraction',
      hosts.map(host => line(host, 'cpu', 'cpu'))
    ),
    drawing(t('Device'), 'fraction', [
      ...hosts
        .filter(({ table }) => feed.hasNumbers(table, 'gpu'))
        .map(host => line(host, 'dev', 'gpu')),
      // where trainers tell how long the device computed, as an emulated one does
      ...(feed.hasNumbers('steps', 'device')
        ? [line(trainers, 'dev', 'device', { as: 'rolling', window: 20 })]
        : [])
    ]),
    drawing(
      t('Memory'),
      'bytes',
      hosts.map(host => line(host, 'cpu', 'memory_bytes'))
    ),
    // apart, so that the lines of a chart are as few as the instances
    drawing(
      t('Network: received'),
      'bytes/s',
      networks.map(host => line(host, 'net', 'received_per_s'))
    ),
    drawing(
      t('Network: sent'),
      'bytes/s',
      networks.map(host => line(host, 'net', 'sent_per_s'))
    )
  ].filter(({ series }) => series.length > 0);
  const busy = lines.filter(({ y }) => y.unit === 'fraction');
  const rows = busy.flatMap(({ title, series }) =>
    series.map(one => ({ ...one, label: `${title}: ${one.label}` }))
  );
  const heat = drawing(t('Busy CPUs and devices'), 'fraction', rows, t('busy'));
  const shades = interruptedTimes(run);
  return [
    ...(rows.length > 0 ? [{ ...heat, isHeat: true, isHidden: !isHeat }] : []),
    ...lines.map(one => ({
      ...one,
      shades,
      isHidden: isHeat && busy.includes(one)
    }))
  ];
}

function drawing(
  title: string,
  unit: Unit,
  series: readonly NamedSeries[],
  label = title
): IDrawing {
  return {
    title,
    x: { label: t('time since the begin'), unit: 's' },
    y: { label, unit, including: 0 },
    height: 160,
    series
  };
}

function deviceWords({ deviceStepTimeS }: IRunInfo): string {
  return deviceStepTimeS === null
    ? t('share of each step')
    : t('share of each step (declared)');
}

function noteOf(run: IRunInfo, feed: Feed): string {
  const isEmpty =
    hostsOf(run, feed).length === 0 && !feed.hasNumbers('steps', 'device');
  return isEmpty ? t('No instance has told what it uses yet.') : '';
}

interface IHost extends Pick<NamedSeries, 'table' | 'label'> {
  readonly number: number;
}

/**
 * Return the instances that have told something, each with its number.
 */
function hostsOf({ groups }: IRunInfo, feed: Feed): readonly IHost[] {
  return groups
    .flatMap(({ name, hosts }) =>
      hosts.map(host => ({
        table: `system:${host}`,
        label: hosts.length > 1 ? `${name} ${host}` : name
      }))
    )
    .map((host, number) => ({ ...host, number }))
    .filter(({ table }) => feed.table(table) !== undefined);
}
