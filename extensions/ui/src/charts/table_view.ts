import { h } from '../dom.js';
import type { ITextTable } from './content.js';

/**
 * Return a table as an element.
 */
export function tableElement({ caption, head, rows }: ITextTable): HTMLElement {
  return h(
    'table',
    {},
    h('caption', {}, caption),
    h(
      'thead',
      {},
      h('tr', {}, ...head.map(name => h('th', { scope: 'col' }, name)))
    ),
    h(
      'tbody',
      {},
      ...rows.map(([first = '', ...others]) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, first),
          ...others.map(text => h('td', {}, text))
        )
      )
    )
  );
}
