import type { IRankInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';

/**
 * Return a row for each of several trainers: where its step time goes, in a bar and in numbers.
 * All bars have one scale, so that the slow one stands out.
 *
 * @param ranks - At least one, by rank.
 */
export function rankTable(ranks: readonly IRankInfo[]): HTMLElement {
  const longestS = Math.max(...ranks.map(rank => rank.stepTimeS));
  const isKnown = ranks.some(rank => rank.exposedCommS !== null);
  const columns = [
    t('trainer'),
    t('step'),
    t('waits for data'),
    ...(isKnown ? [t('for slower trainers'), t('exposed communication')] : [])
  ];
  const head = columns.map(name => h('th', { scope: 'col' }, name));
  return h(
    'div',
    { class: 'smtc-ranks' },
    h(
      'table',
      {},
      h('caption', {}, t('Where the step time of each trainer goes')),
      h('thead', {}, h('tr', {}, head[0] ?? null, h('td'), ...head.slice(1))),
      h('tbody', {}, ...ranks.map(rank => row(rank, longestS, isKnown)))
    ),
    h(
      'p',
      { class: 'smtc-note smtc-ranks-key' },
      ...partsOf(null).map(([kind, , words]) =>
        h('span', {}, h('i', { class: `smtc-rank-${kind}` }), ` ${words} `)
      )
    )
  );
}

function row(rank: IRankInfo, longestS: number, isKnown: boolean): HTMLElement {
  const bar = h('td', { class: 'smtc-rank-bar', 'aria-hidden': 'true' });
  for (const [kind, seconds] of partsOf(rank)) {
    const width = longestS > 0 ? (100 * seconds) / longestS : 0;
    if (width > 0) {
      bar.append(
        h('i', { class: `smtc-rank-${kind}`, style: `width: ${width}%` })
      );
    }
  }
  const numbers = [
    rank.stepTimeS,
    rank.dataWaitS,
    ...(isKnown ? [rank.rankWaitS, rank.exposedCommS] : [])
  ];
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, t('rank %1, %2', String(rank.rank), rank.host)),
    bar,
    ...numbers.map(seconds =>
      h('td', {}, seconds === null ? t('unknown') : format(seconds, 's'))
    )
  );
}

type Part = readonly [kind: string, seconds: number, words: string];

function partsOf(rank: IRankInfo | null): readonly Part[] {
  const dataS = rank?.dataWaitS ?? 0;
  const waitS = rank?.rankWaitS ?? 0;
  const commS = rank?.exposedCommS ?? 0;
  const busyS = Math.max(0, (rank?.stepTimeS ?? 0) - dataS - waitS - commS);
  return [
    ['data', dataS, t('waits for data')],
    ['busy', busyS, t('computes, and all else')],
    ['wait', waitS, t('waits for slower trainers')],
    ['comm', commS, t('exposed communication')]
  ];
}
