import { t } from '../i18n.js';
import type { IComponent } from './component.js';
import { numberField, type INumberFieldProps } from './number_field.js';

/**
 * Make the field for the steps after which a launch ends.
 */
export function stepsField(
  host: HTMLElement,
  value: number | null,
  onChange: (steps: number | null) => void
): IComponent<INumberFieldProps> {
  return numberField(host, {
    label: t('Steps of each launch'),
    value,
    min: 1,
    isWhole: true,
    placeholder: t('until the script ends'),
    onChange
  });
}
