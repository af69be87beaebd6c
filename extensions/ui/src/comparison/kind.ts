import {
  readWire,
  type IComparisonInfo,
  type ISetUpInfo
} from '@smtc-lab/protocol';
import { mark, t } from '../i18n.js';
import type { Feed } from '../live/feed.js';
import type { IDrawing, NamedSeries } from '../monitor/charts.js';
import type { IKind } from '../monitor/kind.js';
import { scalingOf } from '../scaling/read.js';
import { chartsOfLaunches } from '../study/charts.js';
import { describeStudy, spokenOf, studyParts } from '../study/kind.js';

/**
 * A comparison: a study with a baseline, to which the other set-ups have ratios.
 */
export const comparison: IKind<IComparisonInfo> = {
  kind: 'comparison',
  what: mark('the comparison'),
  classes: 'smtc-study smtc-comparison',
  follow: json => readWire('ComparisonInfo', json),
  describe: (info, elapsedS) => ({
    ...describeStudy(info, elapsedS),
    label: t('Comparison %1', info.name),
    spoken: info.ended ? spokenOf(info) : info.sentence
  }),
  draw: place => studyParts(place, drawingsOf)
};

function drawingsOf(
  info: IComparisonInfo,
  feed: Feed,
  isSingle: boolean
): readonly IDrawing[] {
  const { setUps, evidence } = info;
  const [stepTime, ...others] = chartsOfLaunches(info, isSingle);
  const [baseline] = setUps;
  // ratios are by the step, and more devices may take more samples in one
  const isScaling = scalingOf(info) !== null;
  if (baseline === undefined || setUps.length === 1 || isScaling) {
    return [stepTime, ...others];
  }
  const ratio = (
    title: string,
    label: string,
    columns: Pick<NamedSeries, 'y' | 'low' | 'high'>,
    shown: (setUp: ISetUpInfo) => boolean = () => true
  ): IDrawing => ({
    title,
    subject: 'ratios',
    x: { label: t('time since the begin'), unit: 's' },
    y: { label, unit: 'ratio', including: 1 },
    series: setUps
      .map(
        (setUp, color): NamedSeries => ({
          ...columns,
          table: `ratio:${color}`,
          label: setUp.label,
          x: 'time_s',
          as: 'interval',
          evidence,
          color
        })
      )
      .filter((_, place) => place > 0 && shown(setUps[place] as ISetUpInfo)),
    // one that was stopped early, or saved without them, never has any
    isHidden: info.ended && feed.table('ratio:1') === undefined
  });
  const isPriced = ({ usdPerHour }: ISetUpInfo): boolean => usdPerHour !== null;
  const speedUp = ratio(
    t('Speed-up over %1', baseline.label),
    t('step time ratio'),
    { y: 'mean', low: 'low', high: 'high' }
  );
  const cost = ratio(
    t('Cost per step against %1', baseline.label),
    t('cost ratio'),
    { y: 'cost', low: 'cost_low', high: 'cost_high' },
    setUp => isPriced(baseline) && isPriced(setUp)
  );
  return [
    stepTime,
    speedUp,
    ...others,
    ...(setUps.some(isPriced) ? [cost] : [])
  ];
}
