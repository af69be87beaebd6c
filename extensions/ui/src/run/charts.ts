import type { IRunInfo } from '@smtc-lab/protocol';
import { t } from '../i18n.js';
import type { Feed } from '../live/feed.js';
import type { IDrawings } from '../monitor/charts.js';
import { stepCharts } from '../monitor/step_charts.js';
import { interruptedSteps } from './interruptions.js';
import { emptyWords } from './words.js';

const WINDOW = 20;

/**
 * Describe step time, data wait and cost over the steps.
 */
export function chartsOfSteps(run: IRunInfo, feed: Feed): IDrawings {
  if (feed.table('steps') === undefined) {
    return { charts: [], note: emptyWords(run) };
  }
  const { evidence, usdPerHour, predictedStepTimeS, summary } = run;
  const label = t('predicted step time');
  const { interruptions } = run;
  const less = interruptions.map(({ step, waitedS }) => ({
    from: step,
    by: waitedS
  }));
  // another one for others of them
  const edition = less.reduce((sum, { from, by }) => sum + from + by, 0);
  const [stepTime, ...others] = stepCharts(
    [
      {
        ...{ table: 'steps', usdPerHour, evidence },
        ...(less.length > 0 ? { less } : {})
      }
    ],
    {
      isPriced: usdPerHour !== null,
      total: t('Cost so far'),
      warmUp: summary?.warmUpSteps ?? 0,
      predicted: [
        { label, color: 0, of: predictedStepTimeS, steps: run.steps ?? 0 }
      ],
      window: WINDOW
    }
  );
  const shades = [...(stepTime.shades ?? []), ...interruptedSteps(run)];
  return {
    charts: [stepTime, ...others].map(chart => ({
      ...chart,
      shades,
      ...(chart.series[0]?.less === undefined ? {} : { edition })
    })),
    note:
      usdPerHour === null
        ? t(
            'No cost is shown, as a price is unknown. %1',
            run.priceNotes.join('; ')
          )
        : ''
  };
}
