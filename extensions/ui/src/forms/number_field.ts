import { Component, type IComponent } from './component.js';
import { Field } from './field.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';

/**
 * A field for a number.
 */
export interface INumberFieldProps {
  readonly label: string;

  /**
   * Null: the field is empty.
   */
  readonly value: number | null;

  /**
   * Least value; null: there is none.
   */
  readonly min?: number | null;

  readonly max?: number | null;

  /**
   * Whether only whole numbers make sense.
   */
  readonly isWhole?: boolean;

  /**
   * What an empty field means.
   */
  readonly placeholder?: string;

  readonly help?: string;
  readonly problems?: readonly string[];

  /**
   * Why the field is without effect, and switched off; null: it is not.
   */
  readonly whyOff?: string | null;

  /**
   * Called with every legible number while it is typed, null where there is none.
   */
  readonly onChange: (value: number | null) => void;
}

/**
 * Make a field for a number. A text that is no number is null, and the field says so.
 */
export function numberField(
  host: HTMLElement,
  props: INumberFieldProps
): IComponent<INumberFieldProps> {
  return new NumberField(host, props);
}

class NumberField extends Component<INumberFieldProps> {
  constructor(host: HTMLElement, props: INumberFieldProps) {
    super(props);
    const { isWhole, max, min, placeholder } = props;
    this._control = h('input', {
      type: 'number',
      inputmode: isWhole === true ? 'numeric' : 'decimal',
      min,
      max,
      step: isWhole === true ? 1 : 'any',
      placeholder,
      oninput: () => {
        this._read();
      }
    });
    this._field = new Field(props.label, this._control, props.help);
    this.element = this._field.element;
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    const { value, whyOff } = this.props;
    // what stands there may be written otherwise, as 1.50, and mean the same
    if (value !== this._shown) {
      this._shown = value;
      this._control.value = value === null ? '' : String(value);
    }
    this._field.switchOff(whyOff ?? null);
    this._showProblems();
  }

  private _read(): void {
    const { value } = this._control;
    this._shown = value === '' ? null : Number(value);
    this.props.onChange(this._shown);
    this._showProblems();
  }

  private _showProblems(): void {
    const unreadable = this._control.validity.badInput
      ? [t('This is not a number. Write digits, with a point before decimals.')]
      : [];
    this._field.showProblems([...unreadable, ...(this.props.problems ?? [])]);
  }

  private readonly _control: HTMLInputElement;
  private readonly _field: Field;
  private _shown: number | null | undefined;
}
