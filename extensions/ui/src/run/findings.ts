import type { IFindingInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';

/**
 * What could be better, or must be known: what was seen and what it costs, what to do, and the
 * line that begins to do it.
 */
export function findingLines(
  findings: readonly IFindingInfo[]
): readonly HTMLElement[] {
  return findings.map(({ severity, sentence, fix, action }) =>
    h(
      'p',
      { class: severity === 'warning' ? 'smtc-warning' : 'smtc-note' },
      `${severity}: ${sentence} `,
      h('strong', {}, fix),
      action === '' ? null : ' ',
      action === '' ? null : h('code', {}, action)
    )
  );
}
