import type { ISetUpInfo } from '@smtc-lab/protocol';
import { Chart } from '../charts/chart.js';
import type { IChart, ISeries } from '../charts/options.js';
import { h } from '../dom.js';
import type { Feed } from '../live/feed.js';
import { t } from '../i18n.js';

/**
 * How busy the groups of one set-up are, in its newest launch.
 */
export class UtilizationChart {
  readonly element = h('div', {});

  /**
   * @param feed - The tables of the launches.
   * @param setUp - The set-up.
   */
  constructor(
    private readonly _feed: Feed,
    private readonly _setUp: ISetUpInfo
  ) {}

  /**
   * Show a launch of the set-up, as far as its tables have come. An earlier one goes away
   * when there is something of this one to see.
   */
  show(launch: number): void {
    if (launch < this._launch) {
      return;
    }
    const names = this._setUp.hosts.map(([host]) => `${launch}/system:${host}`);
    const isThere = names.some(name => this._feed.table(name) !== undefined);
    if (launch > this._launch && isThere) {
      this._begin(launch);
    }
    if (this._chart === null || launch !== this._launch) {
      return;
    }
    this._setUp.hosts.forEach(([host, group], color) => {
      const isAlone =
        this._setUp.hosts.filter(([, other]) => other === group).length === 1;
      this._add(`${launch}/system:${host}`, {
        y: 'cpu',
        as: 'line',
        label: isAlone
          ? t('CPU of %1', group)
          : t('CPU of %1, %2', group, host),
        color
      });
    });
    const device = this._feed.table(`${launch}/steps`)?.column('device');
    if (device !== undefined && !Number.isNaN(device.at(-1) ?? NaN)) {
      this._add(`${launch}/steps`, {
        y: 'device',
        label: t('device'),
        as: 'rolling',
        window: 20,
        color: this._setUp.hosts.length
      });
    }
  }

  /**
   * Let go of everything. Safe to call twice.
   */
  dispose(): void {
    this._chart?.dispose();
    this._chart = null;
    this._launch = Infinity;
  }

  private _begin(launch: number): void {
    this._chart?.dispose();
    this._drawn.clear();
    this._launch = launch;
    this._chart = new Chart({
      title: t('Utilization: %1', this._setUp.label),
      x: { label: t('time of the newest launch'), unit: 's' },
      y: { label: t('busy'), unit: 'fraction', including: 0 },
      read: (...request) => {
        this._feed.read(...request);
      }
    });
    this.element.replaceChildren(this._chart.element);
  }

  private _add(
    name: string,
    series: Omit<ISeries, 'table' | 'x' | 'evidence'>
  ): void {
    const table = this._feed.table(name);
    if (table === undefined || this._drawn.has(name)) {
      return;
    }
    this._drawn.add(name);
    this._chart?.add({
      ...series,
      table,
      x: 'time_s',
      evidence: this._setUp.evidence
    });
  }

  private readonly _drawn = new Set<string>();
  private _chart: IChart | null = null;
  private _launch = -1;
}
