import { objectOf, plainText, type JsonObject } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IView } from '../model.js';
import { monitorOf } from '../monitor/kinds.js';
import { planner } from '../plan/planner.js';
import { staticResult } from '../static_model.js';

const PLACE = 'smtc-shared';
const DATA = 'smtc-shared-data';
const PLANNER = 'planner';
const MONITOR = /-monitor$/;

/**
 * Show the result that a page holds as data, in its element `smtc-shared`; its words, where it
 * cannot be shown.
 *
 * Mirrors `smtc_lab/views/templates/share.html.j2`.
 */
export function showShared(page: Document): void {
  const place = page.getElementById(PLACE);
  const data = page.getElementById(DATA)?.textContent ?? '';
  const el = h('div', { class: 'smtc' });
  const head = h('h2', { class: 'smtc-sr' }, t('Result'));
  place?.replaceChildren(h('div', { class: 'smtc' }, head), el);
  let given: JsonObject = {};
  try {
    given = objectOf(JSON.parse(data), 'A shared result');
    const { view, model } = staticResult(given['saved']);
    if (view === PLANNER) {
      // its own headings begin a level below those of a monitor
      head.after(h('h3', { class: 'smtc-sr' }, t('Plan')));
    }
    const shown = viewOf(view);
    shown.render({ model, el, state: shown.initialize(model) });
  } catch (error) {
    el.replaceChildren(...whatIsKnown(error, given['text']));
  }
}

/**
 * Return the view of a saved result. Forms are not among them, so that the module is small.
 */
function viewOf(name: string): IView {
  return name === PLANNER ? planner : monitorOf(name.replace(MONITOR, ''));
}

function whatIsKnown(error: unknown, text: unknown): readonly HTMLElement[] {
  const why = error instanceof Error ? error.message : String(error);
  return [
    h(
      'p',
      { class: 'smtc-warning', role: 'status' },
      t('This result cannot be shown as a view. %1', plainText(why))
    ),
    ...(typeof text === 'string' ? [h('pre', {}, plainText(text))] : [])
  ];
}
