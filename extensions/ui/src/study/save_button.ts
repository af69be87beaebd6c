import type { IComparisonInfo } from '@smtc-lab/protocol';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel } from '../model.js';
import type { IPart } from '../monitor/part.js';

/**
 * Offers the numbers as a file, made in the browser, once there are some.
 */
export function saveButton(model: IModel): IPart<IComparisonInfo> {
  const element = h('div', { class: 'smtc-row' });
  const result = (): string => {
    const given = model.get('result');
    return typeof given === 'string' ? given : '';
  };
  let file = '';
  const save = (): void => {
    const blob = new Blob([result()], { type: 'application/json' });
    const address = URL.createObjectURL(blob);
    h('a', { href: address, download: file }).click();
    URL.revokeObjectURL(address);
  };
  return {
    element,
    update({ name }) {
      file = `${name}.json`;
      if (element.childElementCount === 0 && result() !== '') {
        element.append(button(t('Save as JSON'), save));
      }
    }
  };
}
