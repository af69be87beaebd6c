import type { IComparisonInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { drawn, type IPart } from '../monitor/part.js';

/**
 * The answer, or why there is none yet, and what its numbers are.
 */
export function verdict(): IPart<IComparisonInfo> {
  return drawn(h('div', { class: 'smtc-verdict' }), info => {
    const { sentence, isVerdict, evidence, scale, setUps } = info;
    const final = isVerdict ? ' smtc-verdict-final' : '';
    const mark = h(
      'p',
      { class: 'smtc-note' },
      h('span', { class: `smtc-badge smtc-${evidence}` }, t(evidence)),
      ` ${scale === '' ? t('on the hardware that is named') : scale}`,
      ...environmentOf(info).map(
        name => ` · ${t('Python environment')}: ${name}`
      )
    );
    return [
      h('p', { class: `smtc-verdict-sentence${final}` }, sentence),
      ...(setUps.length > 0 ? [mark] : [])
    ];
  });
}

/**
 * Return the Python environment that all set-ups have, where it is another than that of the
 * launch. Where they differ, the table of set-ups says it.
 */
function environmentOf(info: IComparisonInfo): readonly string[] {
  const names = new Set(info.setUps.map(setUp => setUp.pythonEnvironment));
  return names.size > 1 ? [] : [...names].filter(name => name !== '');
}
