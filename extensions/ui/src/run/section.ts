import { h } from '../dom.js';
import type { ISection } from './part.js';

/**
 * Make a part of a view that folds away.
 *
 * @param title - Of the part.
 * @param isOpen - Whether it is unfolded at first.
 */
export function section(title: string, isOpen: boolean): ISection {
  const body = h('div', { class: 'smtc-section-body' });
  const element = h(
    'details',
    { class: 'smtc-section', open: isOpen },
    h('summary', {}, title),
    body
  );
  return { element, body };
}
