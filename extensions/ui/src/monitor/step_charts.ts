import { DEFAULT_WINDOW } from '../charts/layers.js';
import type { Evidence } from '../charts/options.js';
import { t } from '../i18n.js';
import type { IDrawing, NamedSeries } from './charts.js';
import type { IPrediction } from './predicted.js';
import type { Subject } from './subject.js';

export const SECONDS_PER_HOUR = 3600;

/**
 * The steps of one run in each chart.
 */
export interface IStepLine {
  readonly table: string;

  /**
   * Left out: what the chart shows.
   */
  readonly label?: string;

  /**
   * Null: a price is unknown, so the run is in no chart of costs.
   */
  readonly usdPerHour: number | null;
  readonly evidence: Evidence;

  /**
   * Left out: the chart's own.
   */
  readonly color?: number;

  /**
   * What is taken off the time since the begin, as it is not billed.
   */
  readonly less?: NamedSeries['less'];

  /**
   * Name of the table that has several launches as one, with its interval: of a column, and of
   * rolling means of so many steps. Left out: the line is of one launch.
   */
  readonly merged?: (column: string, window: number) => string;
}

interface IStepChart {
  readonly title: string;
  readonly axis: string;
  readonly series: Pick<NamedSeries, 'label' | 'y' | 'color'>;

  readonly subject?: Subject;

  /**
   * The cost of how many times y it shows; left out: y itself.
   */
  readonly times?: number;
}

/**
 * Describe step time, data wait and, where a price is known, cost over the steps of runs.
 *
 * @param options.total - Title of the cost so far, which emulated runs have none of.
 * @param options.window - Rows of the rolling means.
 * @param options.warmUp - Steps that are shaded, but in the cost so far.
 */
export function stepCharts(
  lines: readonly IStepLine[],
  options: {
    readonly isPriced: boolean;
    readonly total: string;
    readonly warmUp: number;
    readonly predicted: readonly IPrediction[];
    readonly window?: number;
  }
): readonly [IDrawing, ...IDrawing[]] {
  const { isPriced, total, warmUp, predicted, ...rolling } = options;
  const shades =
    warmUp > 0 ? [{ label: t('warm-up'), from: 0, to: warmUp - 0.5 }] : [];
  const described: readonly IStepChart[] = [
    {
      title: t('Step time'),
      axis: t('step time'),
      series: { label: t('step time'), y: 'step_time_s', color: 0 }
    },
    {
      title: t('Data wait'),
      axis: t('data wait of each step'),
      series: { label: t('data wait'), y: 'data_wait_s', color: 1 },
      subject: 'data'
    },
    {
      title: t('Cost of 1,000 steps'),
      axis: t('USD for 1,000 steps'),
      series: { label: t('cost of 1,000 steps'), y: 'step_time_s', color: 2 },
      times: 1000
    },
    {
      title: total,
      axis: t('USD, start-up included'),
      series: { label: t('cost so far'), y: 'time_s', color: 2 },
      subject: 'launches',
      times: 1
    }
  ];
  const [stepTime, ...others] = described
    .filter(({ times }) => times === undefined || isPriced)
    .map(({ title, axis, series, times, subject }): IDrawing => {
      const isTotal = series.y === 'time_s';
      // start-up is not on the scale of emulated steps
      const isOneScale = ({ evidence }: IStepLine): boolean =>
        !isTotal || evidence !== 'emulated';
      return {
        title,
        x: { label: t('step'), unit: 'count' },
        y: { label: axis, unit: times ? 'USD' : 's', including: 0 },
        series: lines
          .filter(isOneScale)
          .filter(({ usdPerHour }) => !times || usdPerHour !== null)
          .map(line => ({
            ...series,
            ...rolling,
            ...drawnAs(line, series.y, isTotal ? 1 : rolling.window),
            ...(isTotal && line.less ? { less: line.less } : {}),
            factor: times
              ? (times * (line.usdPerHour ?? 0)) / SECONDS_PER_HOUR
              : 1
          })),
        shades: isTotal ? [] : shades,
        ...(subject === undefined ? {} : { subject })
      };
    })
    .filter(({ series }) => lines.length === 0 || series.length > 0);
  return [{ ...(stepTime as IDrawing), predicted }, ...others];
}

/**
 * Return how a line is drawn.
 *
 * @param window - Steps of its means; 1: they are no rolling means.
 */
function drawnAs(
  { table, label, evidence, color, merged }: IStepLine,
  column: string,
  window = DEFAULT_WINDOW
): Pick<NamedSeries, 'table' | 'x' | 'as' | 'evidence'> & Partial<NamedSeries> {
  const line = {
    ...{ x: 'step', evidence },
    ...(label === undefined ? {} : { label }),
    ...(color === undefined ? {} : { color })
  };
  return merged === undefined
    ? { ...line, table, as: window === 1 ? 'line' : 'rolling' }
    : {
        ...line,
        table: merged(column, window),
        ...{ y: 'mean', low: 'low', high: 'high', as: 'interval' }
      };
}
