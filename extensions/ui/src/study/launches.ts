import type { IComparisonInfo, ILaunchInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { drawn, type IPart } from '../monitor/part.js';

/**
 * The launches so far: each of a set-up where there are some, of what it is named else.
 */
export function launches(): IPart<IComparisonInfo> {
  return drawn(h('div', { class: 'smtc-scroll' }), ({ setUps, launched }) => {
    const isCompared = setUps.length > 0;
    const words = [
      isCompared ? t('Set-up') : t('Launch'),
      ...(isCompared ? [t('Round')] : []),
      t('State'),
      t('Steps'),
      t('Name of the run')
    ];
    return [
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h('tr', {}, ...words.map(word => h('th', { scope: 'col' }, word)))
        ),
        h('tbody', {}, ...launched.map(launch => row(launch, isCompared)))
      )
    ];
  });
}

function row(launch: ILaunchInfo, isCompared: boolean): HTMLElement {
  const { label, round, state, steps, jobName } = launch;
  const rounds = round === null ? t('parity check') : format(round, 'count');
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, label),
    isCompared ? h('td', {}, rounds) : null,
    h('td', {}, state),
    h('td', { class: 'smtc-number' }, format(steps, 'count')),
    h('td', {}, h('code', {}, jobName))
  );
}
