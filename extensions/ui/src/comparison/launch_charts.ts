import type { ISetUpInfo } from '@smtc-lab/protocol';
import type { IAxis, IChart, IChartOptions } from '../charts/options.js';
import { t } from '../i18n.js';

const SECONDS_PER_HOUR = 3600;

/**
 * What a chart of launches draws of each: a column of its steps.
 */
export interface ILaunchChart {
  readonly chart: IChart;
  readonly column: string;
  readonly as: 'rolling' | 'line';

  /**
   * What a value is multiplied with; null: the set-up is not drawn, its price is unknown.
   */
  readonly factor: (setUp: ISetUpInfo) => number | null;
}

/**
 * Return the charts of launches, the step time first.
 *
 * @param isPriced - Whether any set-up has a price.
 * @param chart - Makes a chart.
 */
export function launchCharts(
  isPriced: boolean,
  chart: (options: IChartOptions) => IChart
): readonly [ILaunchChart, ...ILaunchChart[]] {
  const always = (): number => 1;
  const perSecond = (setUp: ISetUpInfo): number | null =>
    setUp.usdPerHour === null ? null : setUp.usdPerHour / SECONDS_PER_HOUR;
  const seconds = (label: string): IAxis => ({
    label,
    unit: 's',
    including: 0
  });
  const dollars: IAxis = { label: t('cost'), unit: 'USD', including: 0 };
  const drawn: [ILaunchChart, ...ILaunchChart[]] = [
    {
      chart: chart({
        title: t('Step time'),
        x: stepAxis(),
        y: seconds(t('step time'))
      }),
      column: 'step_time_s',
      as: 'rolling',
      factor: always
    },
    {
      chart: chart({
        title: t('Data wait'),
        x: stepAxis(),
        y: seconds(t('data wait'))
      }),
      column: 'data_wait_s',
      as: 'rolling',
      factor: always
    }
  ];
  if (isPriced) {
    drawn.push(
      {
        chart: chart({
          title: t('Cost of 1,000 steps'),
          x: stepAxis(),
          y: dollars
        }),
        column: 'step_time_s',
        as: 'rolling',
        factor: setUp => {
          const usdPerS = perSecond(setUp);
          return usdPerS === null ? null : 1000 * usdPerS;
        }
      },
      {
        chart: chart({
          title: t('Cost of a launch so far'),
          x: stepAxis(),
          y: dollars
        }),
        column: 'time_s',
        as: 'line',
        factor: perSecond
      }
    );
  }
  return drawn;
}

function stepAxis(): IAxis {
  return { label: t('step'), unit: 'count' };
}
