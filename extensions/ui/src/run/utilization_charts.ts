import type { IRunInfo } from '@smtc-lab/protocol';
import { Chart } from '../charts/chart.js';
import { HeatMap } from '../charts/heat_map.js';
import type { IAxis, ISeries, Unit } from '../charts/options.js';
import { h } from '../dom.js';
import type { Feed } from '../live/feed.js';
import type { Table } from '../live/table.js';
import { mark, t } from '../i18n.js';
import type { IPart } from './part.js';

const HEAT = mark('Busy CPUs and devices');
const CPU = mark('CPU');
const DEVICE = mark('Device');
const MEMORY = mark('Memory');
const NETWORK = mark('Network');
const ORDER: readonly string[] = [HEAT, CPU, DEVICE, MEMORY, NETWORK];
const SHARED_NETWORK = mark(
  'Instances of a local run share the network of this machine, so this is all of its traffic.'
);

/**
 * How busy CPUs, devices, memory and network of each instance are, over time; CPUs and devices
 * as lines or as a heat map.
 */
export class UtilizationCharts implements IPart {
  readonly element: HTMLElement;

  constructor(private readonly _feed: Feed) {
    this.element = h(
      'div',
      {},
      h('div', { class: 'smtc-row' }, this._toggle),
      this._grid
    );
    this._grid.append(this._empty);
  }

  update(run: IRunInfo): void {
    let place = 0;
    for (const group of run.groups) {
      for (const host of group.hosts) {
        const name =
          group.hosts.length > 1 ? `${group.name} ${host}` : group.name;
        this._showHost(run, host, name, place);
        place += 1;
      }
    }
    this._showTrainers(run);
    if (run.ended) {
      for (const chart of this._charts.values()) {
        chart.end();
      }
    }
  }

  dispose(): void {
    for (const chart of this._charts.values()) {
      chart.dispose();
    }
    this._charts.clear();
  }

  private _showHost(
    run: IRunInfo,
    host: string,
    name: string,
    color: number
  ): void {
    const table = this._feed.table(`system:${host}`);
    if (table === undefined) {
      return;
    }
    const common = {
      label: name,
      table,
      x: 'time_s',
      as: 'line',
      evidence: run.evidence,
      color
    } as const;
    this._addBusy(CPU, { ...common, y: 'cpu' });
    if (hasNumbers(table, 'gpu')) {
      this._addBusy(DEVICE, { ...common, y: 'gpu' });
    }
    this._add(MEMORY, 'bytes', { ...common, y: 'memory_bytes' });
    const isShared = run.runsHere === true;
    if (isShared && color > 0) {
      this._grid.append(this._note);
      return;
    }
    const of = isShared ? '' : `, ${name}`;
    this._add(NETWORK, 'bytes/s', {
      ...common,
      label: t('received%1', of),
      y: 'received_per_s',
      color: 2 * color
    });
    this._add(NETWORK, 'bytes/s', {
      ...common,
      label: t('sent%1', of),
      y: 'sent_per_s',
      color: 2 * color + 1
    });
  }

  /**
   * Where trainers tell how long the device computed, as an emulated one does.
   */
  private _showTrainers(run: IRunInfo): void {
    const steps = this._feed.table('steps');
    if (steps !== undefined && hasNumbers(steps, 'device')) {
      const isDeclared = run.deviceStepTimeS !== null;
      this._addBusy(DEVICE, {
        label: isDeclared
          ? t('share of each step (declared)')
          : t('share of each step'),
        table: steps,
        x: 'time_s',
        y: 'device',
        as: 'rolling',
        window: 20,
        evidence: run.evidence,
        color: 3
      });
    }
  }

  /**
   * Show a fraction, as a line and as a row of the heat map.
   */
  private _addBusy(title: string, series: ISeries): void {
    if (this._add(title, 'fraction', series)) {
      this._heat().add({ ...series, label: `${t(title)}: ${series.label}` });
    }
  }

  private _add(title: string, unit: Unit, series: ISeries): boolean {
    const key = `${title} ${series.table.name} ${series.y}`;
    if (this._shown.has(key)) {
      return false;
    }
    this._shown.add(key);
    this._empty.remove();
    let chart = this._charts.get(title);
    if (!(chart instanceof Chart)) {
      chart = new Chart({
        title: t(title),
        x: timeAxis(),
        y: { label: t(title), unit, including: 0 },
        height: 160
      });
      this._charts.set(title, chart);
      this._grid.append(chart.element);
      this._arrange();
    }
    chart.add(series);
    return true;
  }

  private _heat(): HeatMap {
    let map = this._charts.get(HEAT);
    if (!(map instanceof HeatMap)) {
      map = new HeatMap({ title: t(HEAT), x: timeAxis(), label: t('busy') });
      map.element.classList.add('smtc-wide');
      this._charts.set(HEAT, map);
      this._grid.prepend(map.element);
      this._arrange();
    }
    return map;
  }

  private _switch(): void {
    this._isHeat = !this._isHeat;
    this._toggle.setAttribute('aria-pressed', String(this._isHeat));
    this._arrange();
  }

  private _arrange(): void {
    for (const [title, chart] of this._charts) {
      const isLines = title === CPU || title === DEVICE;
      chart.element.style.order = String(ORDER.indexOf(title));
      chart.element.hidden =
        title === HEAT ? !this._isHeat : isLines && this._isHeat;
    }
  }

  private readonly _toggle = h(
    'button',
    {
      type: 'button',
      'aria-pressed': 'false',
      onclick: () => {
        this._switch();
      }
    },
    t('Heat map')
  );
  private readonly _grid = h('div', { class: 'smtc-charts' });
  private readonly _empty = h(
    'p',
    { class: 'smtc-note' },
    t('No instance has told what it uses yet.')
  );
  private readonly _note = h('p', { class: 'smtc-note' }, t(SHARED_NETWORK));
  private readonly _shown = new Set<string>();
  private readonly _charts = new Map<string, Chart | HeatMap>();
  private _isHeat = false;
}

function timeAxis(): IAxis {
  return { label: t('time since the begin'), unit: 's' };
}

function hasNumbers(table: Table, column: string): boolean {
  return !Number.isNaN(table.column(column).at(-1) ?? NaN);
}
