import { button, h } from '../dom.js';
import { Field } from '../forms/field.js';
import { t } from '../i18n.js';

const USUAL = '1, 2, 4';

/**
 * The form of a scaling study: each set-up on each of some numbers of devices.
 */
export class ScaleBox {
  /**
   * @param onScale - Called with the numbers of devices, ascending.
   */
  constructor(onScale: (devices: readonly number[]) => void) {
    this._input.value = USUAL;
    this._input.addEventListener('input', () => {
      this._check();
    });
    this._begin = button(t('Scale'), () => {
      const counts = countsOf(this._input.value);
      if (counts !== null) {
        onScale(counts);
      }
    });
    this.element = h(
      'details',
      { class: 'smtc-scale' },
      h('summary', {}, t('How do they grow with devices?')),
      h('div', { class: 'smtc-row' }, this._field.element, this._begin)
    );
  }

  readonly element: HTMLElement;

  /**
   * Take note whether anything can be started now.
   */
  allow(isAllowed: boolean): void {
    this._isAllowed = isAllowed;
    this._check();
  }

  private _check(): void {
    const isLegible = countsOf(this._input.value) !== null;
    this._field.showProblems(
      isLegible ? [] : [t('Write whole numbers from 1 on, such as 1, 2, 4.')]
    );
    this._begin.disabled = !isLegible || !this._isAllowed;
  }

  private readonly _input = h('input', { type: 'text', inputmode: 'numeric' });
  private readonly _field = new Field(
    t('Numbers of devices'),
    this._input,
    t(
      'Runs each set-up on each of them: its training group grows, a data group stays.'
    )
  );
  private readonly _begin: HTMLButtonElement;
  private _isAllowed = true;
}

/**
 * Return the numbers that a text names, ascending; null: it names something else.
 */
export function countsOf(text: string): readonly number[] | null {
  const parts = text.split(',').map(part => part.trim());
  if (!parts.every(part => /^[1-9]\d{0,3}$/.test(part))) {
    return null;
  }
  return [...new Set(parts.map(Number))].sort((a, b) => a - b);
}
