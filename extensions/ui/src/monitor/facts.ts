import { bounded } from '../bounded.js';
import { h } from '../dom.js';

/**
 * What something is called, its value in words with its unit, and what is said behind it in a
 * lighter colour; `is-billed` marks money that is spent meanwhile.
 */
export type Fact = readonly [
  name: string,
  value: string,
  note?: string,
  look?: 'is-billed' | undefined
];

/**
 * Return names and values as what stands in a list of the class `smtc-facts`.
 */
export function factNodes(facts: readonly Fact[]): readonly Node[] {
  return facts.map(([name, value, note = '', look]) =>
    h(
      'div',
      look === undefined ? {} : { class: look },
      h('dt', {}, name),
      h(
        'dd',
        {},
        h('span', { class: 'smtc-number' }, ...bounded(value)),
        ' ',
        h('span', { class: 'smtc-note' }, ...bounded(note))
      )
    )
  );
}
