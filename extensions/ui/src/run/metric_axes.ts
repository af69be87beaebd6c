import type { IRunInfo } from '@smtc-lab/protocol';
import type { IAxis, ISeries, IShade } from '../charts/options.js';
import { t } from '../i18n.js';
import { SECONDS_PER_HOUR } from '../monitor/step_charts.js';
import { interruptedSteps, interruptedTimes } from './interruptions.js';

/**
 * All horizontal axes.
 */
export const AXES = ['steps', 'seconds', 'samples', 'dollars'] as const;

/**
 * A horizontal axis of metrics.
 */
export interface IAlong extends Pick<ISeries, 'x' | 'along'> {
  readonly key: (typeof AXES)[number];
  readonly axis: IAxis;
  readonly shades: readonly IShade[];
}

/**
 * Return the axes of which enough is known, steps first.
 *
 * @param latest - Returns the newest description: what is drawn counts with it.
 */
export function axesOf(
  run: IRunInfo,
  latest: () => IRunInfo
): readonly IAlong[] {
  const { evidence, usdPerHour, summary } = run;
  const steps = { label: t('step'), unit: 'count' } as const;
  const seconds = { label: t('time since the begin'), unit: 's' } as const;
  const samples = { label: t('samples'), unit: 'count' } as const;
  const dollars = { label: t('USD, start-up included'), unit: 'USD' } as const;
  return [
    { key: 'steps', axis: steps, x: 'step', shades: interruptedSteps(run) },
    {
      ...{ key: 'seconds', axis: seconds, x: 'time_s' },
      shades: interruptedTimes(run)
    },
    ...(summary?.samplesPerStep
      ? [
          {
            ...{ key: 'samples' as const, axis: samples, x: 'step' },
            shades: [],
            along: (step: number) =>
              step * (latest().summary?.samplesPerStep ?? NaN)
          }
        ]
      : []),
    // start-up is not on the scale of emulated steps
    ...(usdPerHour !== null && evidence === 'measured'
      ? [
          {
            ...{ key: 'dollars' as const, axis: dollars, x: 'time_s' },
            shades: [],
            along: (timeS: number) => usdAt(latest(), timeS)
          }
        ]
      : [])
  ];
}

/**
 * Return what a run has cost at a time since its begin: not what it waited for instances.
 */
function usdAt({ usdPerHour, interruptions }: IRunInfo, timeS: number): number {
  const billedS = interruptions.reduce(
    (leftS, { goneS, backS }) =>
      leftS - Math.max(0, Math.min(timeS, backS ?? timeS) - goneS),
    timeS
  );
  return (billedS * (usdPerHour ?? NaN)) / SECONDS_PER_HOUR;
}
