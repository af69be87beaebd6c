import { h, newId } from '../dom.js';
import { t } from '../i18n.js';

/**
 * A choice of one of a few, as buttons beside each other.
 */
export interface IViewSwitch<T extends string> {
  readonly element: HTMLElement;

  /**
   * Show which one is chosen.
   */
  show(value: T): void;
}

/**
 * Make a switch.
 *
 * @param choices - Values with their labels, in English.
 */
export function viewSwitch<T extends string>(
  label: string,
  choices: readonly (readonly [T, string])[],
  onChange: (value: T) => void
): IViewSwitch<T> {
  const name = newId();
  const inputs = choices.map(
    ([value]) =>
      [
        value,
        h('input', {
          type: 'radio',
          name,
          value,
          onchange: () => {
            onChange(value);
          }
        })
      ] as const
  );
  const element = h(
    'div',
    { class: 'smtc-switch', role: 'radiogroup', 'aria-label': label },
    ...choices.map(([, words], at) =>
      h('label', {}, inputs[at]?.[1] ?? null, h('span', {}, t(words)))
    )
  );
  return {
    element,
    show(value): void {
      for (const [own, input] of inputs) {
        input.checked = own === value;
      }
    }
  };
}
