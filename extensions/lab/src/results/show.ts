import { plainText } from '@smtc-lab/protocol';
import { h } from '@smtc-lab/ui/dom.js';
import { t } from '@smtc-lab/ui/i18n.js';
import { keepKeys } from '@smtc-lab/ui/keep_keys.js';
import type { IView } from '@smtc-lab/ui/model.js';
import { staticResult } from '@smtc-lab/ui/static_model.js';
import { runComparison } from '@smtc-lab/ui/run_comparison/view.js';
import { runTable } from '@smtc-lab/ui/run_table/view.js';
import { viewNamed } from '../dashboard/views.js';
import '@smtc-lab/ui/styles/index.css';
import './result.css';
import { speak, type ITexts } from '../language.js';

/**
 * Views of many runs, which are no part of what shows one.
 */
const OF_MANY: Readonly<Record<string, IView>> = {
  'run-comparison': runComparison,
  'run-table': runTable
};

/**
 * What is known of a saved result.
 */
export interface ISavedResult {
  /**
   * What our own type holds.
   */
  readonly json: unknown;

  /**
   * The same in words, shown where the JSON cannot be read; unknown: there is none.
   */
  readonly text: unknown;

  readonly translator: ITexts | undefined;
}

/**
 * Show a saved result in an element that is emptied before.
 *
 * @returns What to call when it goes away.
 */
export function showResult(node: HTMLElement, saved: ISavedResult): () => void {
  speak(saved.translator);
  const el = h('div', { class: 'smtc', onfocusin: keepKeys });
  node.replaceChildren(el);
  try {
    const { view, model } = staticResult(saved.json);
    const shown = OF_MANY[view] ?? viewNamed(view);
    return shown.render({ model, el, state: shown.initialize(model) });
  } catch (error) {
    el.replaceChildren(...whatIsKnown(error, saved.text));
    return () => undefined;
  }
}

function whatIsKnown(error: unknown, text: unknown): readonly HTMLElement[] {
  const why = error instanceof Error ? error.message : String(error);
  const words = Array.isArray(text) ? text.join('') : text;
  return [
    h(
      'p',
      { class: 'smtc-warning', role: 'status' },
      t('This result cannot be shown as a view. %1', plainText(why))
    ),
    ...(typeof words === 'string' ? [h('pre', {}, plainText(words))] : [])
  ];
}
