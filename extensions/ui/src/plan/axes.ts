import type { IEstimate, IPlanInfo, IPointInfo } from '@smtc-lab/protocol';
import type { Unit } from '../charts/options.js';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';

/**
 * Which numbers a chart of a plan shows: of a step, or of the whole job.
 */
export interface IAxes {
  readonly time: 'step' | 'job';
  readonly cost: 'steps' | 'job';
}

/**
 * One axis of the chart.
 */
export interface IPlanAxis {
  readonly label: string;
  readonly unit: Unit;

  /**
   * Return the number of a cluster; null: unknown.
   */
  readonly of: (point: IPointInfo) => IEstimate | null;
}

/**
 * Return the axis of time.
 */
export function timeAxis(axes: IAxes, plan: IPlanInfo): IPlanAxis {
  return axes.time === 'step'
    ? { label: t('time per step'), unit: 's', of: point => point.stepTimeS }
    : {
        label: t('time of %1 steps', format(plan.steps ?? NaN, 'count')),
        unit: 's',
        of: point => point.jobS
      };
}

/**
 * Return the axis of cost.
 */
export function costAxis(axes: IAxes): IPlanAxis {
  return axes.cost === 'steps'
    ? {
        label: t('USD per 1,000 steps'),
        unit: 'USD',
        of: point => point.usdPer1000Steps
      }
    : {
        label: t("USD per job, with this machine's start-up"),
        unit: 'USD',
        of: point => point.usdPerJob
      };
}
