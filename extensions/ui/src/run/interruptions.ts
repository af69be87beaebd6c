import type { IRunInfo } from '@smtc-lab/protocol';
import type { IShade } from '../charts/options.js';
import { format } from '../charts/units.js';
import { t } from '../i18n.js';

type Interruption = IRunInfo['interruptions'][number];

/**
 * Return what interruptions took of the time since the begin: hatched what is billed, and as a gap
 * between it what is not.
 */
export function interruptedTimes(run: IRunInfo): readonly IShade[] {
  return run.interruptions.flatMap(one => {
    const { fromS, goneS } = one;
    const backS = one.backS ?? run.elapsedS ?? goneS;
    return [
      { ...labelsOf(one), from: fromS, to: goneS, look: 'lost' },
      { label: '', from: goneS, to: backS, look: 'gap' },
      { label: '', from: backS, to: one.untilS ?? backS, look: 'lost' }
    ] as const;
  });
}

/**
 * Return the steps with which a run went on, as upright lines before them.
 */
export function interruptedSteps(run: IRunInfo): readonly IShade[] {
  return run.interruptions.map(one => {
    const at = Math.max(0, one.step - 0.5);
    return { ...labelsOf(one), from: at, to: at };
  });
}

function labelsOf(one: Interruption): Pick<IShade, 'label' | 'short'> {
  const usd = one.lostUsd === null ? '' : `, ${format(one.lostUsd, 'USD')}`;
  const waited =
    one.backS === null
      ? t('waits (not billed)')
      : t('%1 waiting (not billed)', format(one.waitedS, 's'));
  const lost = t('%1 lost', format(one.lostS, 's'));
  return {
    label: t('interrupted: %1', `${waited}, ${lost}${usd}`),
    short: `${t('interrupted')}${usd}`
  };
}
