import type { IRunInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { findingLines } from './findings.js';
import type { IPart } from './part.js';
import { duration } from './words.js';

/**
 * What happened to a run, and what could be better in it.
 */
export class RunEvents implements IPart {
  readonly element = h('div', { class: 'smtc-run-events' });

  update(run: IRunInfo): void {
    const shown = JSON.stringify([run.events, run.findings, run.compiler]);
    if (shown === this._shown) {
      return;
    }
    this._shown = shown;
    const compiler = run.compiler;
    this.element.replaceChildren(
      ...findingLines(run.findings),
      ...(compiler === null
        ? []
        : [t('Compiler %1', compiler.backend), ...compiler.words]
      ).map(words => h('p', { class: 'smtc-note' }, words)),
      h(
        'ol',
        { class: 'smtc-events' },
        ...run.events.map(event =>
          h(
            'li',
            { class: `smtc-event-${event.kind.replace(/\W/g, '')}` },
            h(
              'span',
              { class: 'smtc-number smtc-note' },
              duration(event.timeS)
            ),
            ` ${event.host === '' ? '' : `${event.host}: `}${event.message}`
          )
        )
      )
    );
  }

  dispose(): void {
    this.element.remove();
  }

  private _shown = '';
}
