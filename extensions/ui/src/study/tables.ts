import type { IComparisonInfo, ILaunchInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { drawn, type IPart } from '../monitor/part.js';
import { column, table } from '../monitor/table.js';
import { stateWord } from '../monitor/words.js';
import { letterOf, setUpMark } from '../picture/set_up_mark.js';
import { hasRounds } from './rounds.js';

/**
 * The table of set-ups: one column each, with the mark and the letter that it has everywhere.
 */
export function setUpTable(): IPart<IComparisonInfo> {
  const region = h('div', {
    class: 'smtc-scroll',
    role: 'region',
    'aria-label': t('Table of set-ups'),
    tabindex: 0
  });
  return drawn(region, ({ setUps, rows }) => {
    const heads = setUps.map(({ label }, place) =>
      column(setUpMark(place), ` ${letterOf(place)} `, label)
    );
    const lines = rows.map(({ label, cells }) => [label, ...cells] as const);
    const shown = table('smtc-set-ups', [h('td', {}), ...heads], lines);
    shown.style.setProperty('--smtc-columns', String(setUps.length));
    return setUps.length === 0 || rows.length === 0 ? [] : [shown];
  });
}

/**
 * The launches so far: each of a set-up where there are some, of what it is named else.
 */
export function launchTable(): IPart<IComparisonInfo> {
  return drawn(h('div', { class: 'smtc-scroll' }), info => {
    const { setUps, launched } = info;
    const isInRounds = hasRounds(info);
    const heads = [
      setUps.length > 0 ? t('Set-up') : t('Launch'),
      ...(isInRounds ? [t('Round')] : []),
      t('State'),
      t('Steps'),
      t('Name of the run')
    ];
    const lines = launched.map(
      launch =>
        [
          launch.label,
          ...(isInRounds ? [roundOf(launch)] : []),
          t(stateWord(launch.state)),
          format(launch.steps, 'count'),
          h('code', {}, launch.jobName)
        ] as const
    );
    return [
      table(
        '',
        heads.map(word => column(word)),
        lines
      )
    ];
  });
}

function roundOf({ round }: ILaunchInfo): string {
  return round === null ? t('parity check') : format(round, 'count');
}
