import { codeBox } from '../forms/code_box.js';
import { h } from '../dom.js';
import type { IPart } from './part.js';

/**
 * Let a piece of a view fold away.
 *
 * @param title - Of the piece.
 * @param isOpen - Whether it is unfolded at first.
 */
export function folded<T>(
  title: string,
  isOpen: boolean,
  part: IPart<T>
): Required<IPart<T>> {
  return {
    element: h(
      'details',
      { class: 'smtc-section', open: isOpen },
      h('summary', {}, title),
      h('div', { class: 'smtc-section-body' }, part.element)
    ),
    update(info) {
      part.update(info);
    },
    dispose() {
      part.dispose?.();
    }
  };
}

/**
 * Lines of code that do what a view shows, folded away; nothing where there are none.
 */
export function foldedCode(
  title: string
): Required<IPart<{ readonly code: string }>> {
  const box = codeBox(h('div'), { code: '' });
  const part = folded(title, false, box);
  return {
    ...part,
    update({ code }) {
      part.element.hidden = code === '';
      box.update({ code });
    }
  };
}
