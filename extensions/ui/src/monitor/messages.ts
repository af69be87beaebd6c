import type { IEventInfo, IFindingInfo } from '@smtc-lab/protocol';
import { bounded, paragraph } from '../bounded.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { drawn, type IPart } from './part.js';
import { duration } from './words.js';

/**
 * What is to be said of something.
 */
export interface IMessages {
  readonly findings?: readonly IFindingInfo[];
  readonly notes: readonly string[];
  readonly events?: readonly IEventInfo[];
}

/**
 * What could be better, what a reader must know, and what happened.
 */
export function messages<T>(of: (info: T) => IMessages): IPart<T> {
  return drawn(h('div', {}), info => {
    const { findings = [], notes, events = [] } = of(info);
    return [
      ...findings.map(({ severity, sentence, fix, action }) =>
        h(
          'p',
          { class: severity === 'warning' ? 'smtc-warning' : 'smtc-note' },
          ...bounded(`${severityWord(severity)}: ${sentence} `),
          h('strong', {}, ...bounded(fix)),
          action === '' ? null : ' ',
          action === '' ? null : h('code', {}, ...bounded(action))
        )
      ),
      ...notes.map(note => paragraph(note)),
      ...(events.length === 0
        ? []
        : [h('ol', { class: 'smtc-events' }, ...events.map(eventItem))])
    ];
  });
}

function severityWord(severity: IFindingInfo['severity']): string {
  return severity === 'warning' ? t('warning') : t('note');
}

function eventItem({ kind, timeS, host, message }: IEventInfo): HTMLElement {
  return h(
    'li',
    { class: `smtc-event-${kind.replace(/\W/g, '')}` },
    h('span', { class: 'smtc-number smtc-note' }, duration(timeS)),
    ' ',
    ...bounded(`${host === '' ? '' : `${host}: `}${message}`)
  );
}
