import { bounded } from '../bounded.js';
import { button, h } from '../dom.js';

/**
 * One of several things to choose.
 */
export interface IOffer {
  /**
   * Its name.
   */
  readonly label: string;

  /**
   * A sentence or a folder beside it; may be empty.
   */
  readonly about: string;

  readonly choose: () => void;
}

/**
 * Make a titled list of things to choose; null: there are none.
 */
export function scriptList(
  title: string,
  offers: readonly IOffer[]
): HTMLElement | null {
  return offers.length === 0
    ? null
    : h(
        'div',
        { role: 'group', 'aria-label': title },
        h('p', { class: 'smtc-soft' }, title),
        listOf(offers)
      );
}

/**
 * Make a list of things to choose.
 */
export function listOf(offers: readonly IOffer[]): HTMLElement {
  return h(
    'ul',
    { class: 'smtc-offers' },
    ...offers.map(({ label, about, choose }) =>
      h(
        'li',
        {},
        button(label, choose),
        about === ''
          ? null
          : h('span', { class: 'smtc-soft' }, ...bounded(about))
      )
    )
  );
}
