import type { IRunInfo } from '@smtc-lab/protocol';
import { Chart } from '../charts/chart.js';
import type { IChart, IChartOptions, ISeries } from '../charts/options.js';
import { h } from '../dom.js';
import type { Feed } from '../live/feed.js';
import type { Table } from '../live/table.js';
import { t } from '../i18n.js';
import type { IPart } from './part.js';
import { PredictedSteps } from './predicted.js';
import { emptyWords } from './words.js';

const WINDOW = 20;

/**
 * Step time, data wait and cost over the steps.
 */
export class StepCharts implements IPart {
  readonly element = h('div', { class: 'smtc-charts' });

  constructor(private readonly _feed: Feed) {
    this.element.append(this._empty);
  }

  update(run: IRunInfo): void {
    const table = this._feed.table('steps');
    if (table === undefined) {
      this._empty.textContent = emptyWords(run);
      return;
    }
    if (this._charts.length === 0) {
      this._empty.remove();
      this._show(table, run);
    }
    this._showPredicted(run);
    if (run.ended) {
      for (const chart of this._charts) {
        chart.end();
      }
    }
    const warmUp = run.summary?.warmUpSteps ?? 0;
    if (warmUp !== this._warmUp) {
      this._warmUp = warmUp;
      for (const chart of this._charts) {
        chart.shade(
          warmUp > 0 ? [{ label: t('warm-up'), from: 0, to: warmUp }] : []
        );
      }
    }
  }

  dispose(): void {
    for (const chart of this._charts) {
      chart.dispose();
    }
  }

  private _show(table: Table, run: IRunInfo): void {
    const common = {
      table,
      x: 'step',
      evidence: run.evidence,
      color: 0
    } as const;
    this._add(t('Step time'), t('step time'), 's', {
      ...common,
      label: t('step time'),
      y: 'step_time_s',
      as: 'rolling',
      window: WINDOW
    });
    this._add(t('Data wait'), t('data wait of each step'), 's', {
      ...common,
      label: t('data wait'),
      y: 'data_wait_s',
      as: 'rolling',
      window: WINDOW,
      color: 1
    });
    if (run.usdPerHour === null) {
      this.element.append(
        h(
          'p',
          { class: 'smtc-note' },
          t(
            'No cost is shown, as a price is unknown. %1',
            run.priceNotes.join('; ')
          )
        )
      );
      return;
    }
    this._add(t('Cost of 1,000 steps'), t('USD for 1,000 steps'), 'USD', {
      ...common,
      label: t('cost of 1,000 steps'),
      y: 'step_time_s',
      factor: (1000 * run.usdPerHour) / 3600,
      as: 'rolling',
      window: WINDOW,
      color: 2
    });
    this._add(t('Cost so far'), t('USD, start-up included'), 'USD', {
      ...common,
      label: t('cost so far'),
      y: 'time_s',
      factor: run.usdPerHour / 3600,
      as: 'line',
      color: 2
    });
  }

  /**
   * Draw what was predicted behind the step times, once it is known.
   */
  private _showPredicted(run: IRunInfo): void {
    if (run.predictedStepTimeS === null) {
      return;
    }
    if (this._predicted === null) {
      this._predicted = new PredictedSteps();
      this._charts[0]?.add(this._predicted.series(t('predicted step time'), 0));
    }
    this._predicted.update(run.predictedStepTimeS, run.steps ?? 0);
  }

  private _add(
    title: string,
    label: string,
    unit: IChartOptions['y']['unit'],
    series: ISeries
  ): void {
    const chart = new Chart({
      title,
      x: { label: t('step'), unit: 'count' },
      y: { label, unit, including: 0 },
      read: (table, first, end, most) => {
        this._feed.read(table, first, end, most);
      }
    });
    chart.add(series);
    this._charts.push(chart);
    this.element.append(chart.element);
  }

  private readonly _empty = h('p', { class: 'smtc-note' });
  private readonly _charts: IChart[] = [];
  private _predicted: PredictedSteps | null = null;
  private _warmUp = 0;
}
