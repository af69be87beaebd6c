import type { IComparisonInfo } from '@smtc-lab/protocol';
import { Chart } from '../charts/chart.js';
import type { IAxis, IChart, ISeries } from '../charts/options.js';
import { h } from '../dom.js';
import type { Feed } from '../live/feed.js';
import { t } from '../i18n.js';
import { launchCharts } from './launch_charts.js';
import type { IPart } from './part.js';
import { Predictions } from './predictions.js';
import { UtilizationChart } from './utilization.js';

/**
 * The charts of a comparison. A set-up has one colour in all of them; later launches are
 * drawn over earlier ones.
 */
export class ComparisonCharts implements IPart {
  readonly element: HTMLElement;

  /**
   * @param feed - The tables of the launches.
   * @param info - Where the comparison stands.
   */
  constructor(
    private readonly _feed: Feed,
    info: IComparisonInfo
  ) {
    this._info = info;
    const isPriced = info.setUps.some(setUp => setUp.usdPerHour !== null);
    this._launches = launchCharts(isPriced, options => this._chart(options));
    this._ratio = this._chart({
      title: t('Speed-up over %1', info.setUps[0]?.label ?? t('the baseline')),
      x: timeAxis(),
      y: { label: t('step time ratio'), unit: 'ratio', including: 1 }
    });
    this._cost = isPriced
      ? this._chart({
          title: t(
            'Cost per step against %1',
            info.setUps[0]?.label ?? t('the baseline')
          ),
          x: timeAxis(),
          y: { label: t('cost ratio'), unit: 'ratio', including: 1 }
        })
      : null;
    this._utilization = info.setUps.map(
      setUp => new UtilizationChart(_feed, setUp)
    );
    const [stepTime, ...others] = this._launches;
    this._predictions = new Predictions(stepTime.chart);
    this.element = h(
      'div',
      { class: 'smtc-comparison-charts' },
      ...[
        stepTime.chart,
        info.setUps.length > 1 ? this._ratio : undefined,
        ...others.map(item => item.chart),
        info.setUps.length > 1 ? (this._cost ?? undefined) : undefined,
        ...this._utilization
      ].map(item => item?.element ?? null)
    );
    this._leave = _feed.onTable(() => {
      this._add();
    });
    this._add();
  }

  update(info: IComparisonInfo): void {
    this._info = info;
    this._add();
    this._all
      .filter(() => info.ended)
      .forEach(chart => {
        chart.end();
      });
  }

  dispose(): void {
    this._leave();
    for (const chart of this._all) {
      chart.dispose();
    }
    for (const chart of this._utilization) {
      chart.dispose();
    }
  }

  /**
   * Draw what can be drawn and is not drawn yet: tables and news of launches come in any order.
   */
  private _add(): void {
    this._info.launched.forEach((launch, place) => {
      const setUp = this._info.setUps[launch.setUp ?? -1];
      if (setUp === undefined || launch.setUp === null) {
        return;
      }
      const label =
        this._info.rounds === 1
          ? setUp.label
          : t('%1, round %2', setUp.label, launch.round ?? 0);
      for (const item of this._launches) {
        const factor = item.factor(setUp);
        if (factor !== null) {
          this._addOnce(item.chart, `${place}/steps`, {
            label,
            x: 'step',
            y: item.column,
            as: item.as,
            factor,
            evidence: setUp.evidence,
            color: launch.setUp
          });
        }
      }
      this._utilization[launch.setUp]?.show(place);
    });
    this._predictions.update(this._info);
    this._addRatios();
    this._shade();
  }

  /**
   * Shade the steps that are warm-up in every launch. A compiler's first step would else be
   * all that a chart shows.
   */
  private _shade(): void {
    const known = this._info.launched
      .map(launch => launch.warmUpSteps)
      .filter(steps => steps > 0);
    if (known.length > 0) {
      const shades = [
        { label: t('warm-up'), from: 0, to: Math.min(...known) - 0.5 }
      ];
      for (const item of this._launches.filter(each => each.as === 'rolling')) {
        item.chart.shade(shades);
      }
    }
  }

  private _addRatios(): void {
    // one that was stopped early, or saved without them, never has any
    const isNone =
      this._info.ended && this._feed.table('ratio:1') === undefined;
    this._ratio.element.hidden = isNone;
    if (this._cost !== null) {
      this._cost.element.hidden = isNone;
    }
    this._info.setUps.slice(1).forEach((setUp, place) => {
      const series = {
        label: setUp.label,
        x: 'time_s',
        as: 'interval',
        evidence: this._info.evidence,
        color: place + 1
      } as const;
      const table = `ratio:${place + 1}`;
      this._addOnce(this._ratio, table, {
        ...series,
        y: 'mean',
        low: 'low',
        high: 'high'
      });
      const isPriced =
        setUp.usdPerHour !== null &&
        (this._info.setUps[0]?.usdPerHour ?? null) !== null;
      if (this._cost !== null && isPriced) {
        this._addOnce(this._cost, table, {
          ...series,
          y: 'cost',
          low: 'cost_low',
          high: 'cost_high'
        });
      }
    });
  }

  private _addOnce(
    chart: IChart,
    name: string,
    series: Omit<ISeries, 'table'>
  ): void {
    const table = this._feed.table(name);
    const drawn = this._drawn.get(chart) ?? new Set();
    if (table === undefined || drawn.has(name)) {
      return;
    }
    drawn.add(name);
    this._drawn.set(chart, drawn);
    chart.add({ ...series, table });
  }

  private _chart(options: ConstructorParameters<typeof Chart>[0]): IChart {
    const chart = new Chart({
      ...options,
      read: (...request) => {
        this._feed.read(...request);
      }
    });
    this._all.push(chart);
    return chart;
  }

  private readonly _all: IChart[] = [];
  private readonly _launches: ReturnType<typeof launchCharts>;
  private readonly _predictions: Predictions;
  private readonly _ratio: IChart;
  private readonly _cost: IChart | null;
  private readonly _utilization: readonly UtilizationChart[];
  private readonly _drawn = new Map<IChart, Set<string>>();
  private readonly _leave: () => void;
  private _info: IComparisonInfo;
}

function timeAxis(): IAxis {
  return { label: t('time since the begin'), unit: 's' };
}
