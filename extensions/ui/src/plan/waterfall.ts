import { STAGES, type IPointInfo } from '@smtc-lab/protocol';
import { paletteColor } from '../charts/theme.js';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { estimateWords, STAGE_COLORS, STAGE_WORDS } from './words.js';

/**
 * Return what each stage of a step takes on a cluster, above the step that they make.
 */
export function waterfall(point: IPointInfo): HTMLElement {
  const times = STAGES.map(stage => point.stagesS[stage] ?? 0);
  const end = Math.max(point.stepTimeS.high, ...times);
  const share = (value: number): string => `${(100 * value) / end}%`;
  const rows = STAGES.map(stage => {
    const timeS = point.stagesS[stage];
    const busy = point.utilization[stage];
    const words = [
      timeS === null ? t('unknown') : format(timeS, 's'),
      busy === null ? '' : t('busy %1', format(busy, 'fraction')),
      stage === point.bottleneck ? t('the bottleneck') : ''
    ];
    const bar = h('span', { class: 'smtc-plan-bar', 'aria-hidden': 'true' });
    bar.style.width = share(timeS ?? 0);
    bar.style.background = paletteColor(STAGE_COLORS[stage]);
    return row(t(STAGE_WORDS[stage]), bar, words.filter(Boolean).join(', '));
  });
  const step = h('span', {
    class: 'smtc-plan-bar smtc-plan-step',
    'aria-hidden': 'true'
  });
  step.style.width = share(point.stepTimeS.value);
  rows.push(row(t('step'), step, estimateWords(point.stepTimeS, 's')));
  return h(
    'div',
    { class: 'smtc-plan-waterfall' },
    h('dl', {}, ...rows),
    h(
      'p',
      { class: 'smtc-note' },
      t('%1; data are prepared while the trainer works', t(point.evidence))
    )
  );
}

function row(name: string, bar: HTMLElement, words: string): HTMLElement {
  return h(
    'div',
    {},
    h('dt', {}, name),
    h(
      'dd',
      {},
      h('span', { class: 'smtc-plan-track' }, bar),
      h('span', { class: 'smtc-number' }, words)
    )
  );
}
