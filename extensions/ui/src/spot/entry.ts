import { h } from '../dom.js';
import { t } from '../i18n.js';
import { format } from '../charts/units.js';
import { Field } from '../forms/field.js';

/**
 * A field that holds one value of a job, a market or a question.
 */
export interface IEntry {
  /**
   * As Python calls it.
   */
  readonly name: string;
  readonly label: string;

  /**
   * Of `seconds` it says what they come to.
   */
  readonly kind: 'number' | 'seconds' | 'text' | 'tick';

  /**
   * What it means when it is empty.
   */
  readonly placeholder?: string;
  readonly help?: string;
}

/**
 * An input, empty where nothing is given.
 */
export class Entry {
  /**
   * @param onChange - Called with every legible value, null where there is none.
   */
  constructor(
    readonly spec: IEntry,
    private readonly _onChange: (value: unknown) => void
  ) {
    const { kind, placeholder } = spec;
    const isNumber = kind === 'number' || kind === 'seconds';
    this._input = h('input', {
      type: kind === 'tick' ? 'checkbox' : isNumber ? 'number' : 'text',
      step: isNumber ? 'any' : null,
      min: isNumber ? 0 : null,
      placeholder,
      spellcheck: 'false',
      autocomplete: 'off',
      [kind === 'tick' ? 'onchange' : 'oninput']: () => {
        this._read();
      }
    });
    this._field = new Field(spec.label, this._input, spec.help);
    this.element = this._field.element;
  }

  readonly element: HTMLElement;

  /**
   * @param value - What is given; null and undefined: nothing.
   * @param whyOff - Why it is without effect; null: it has one.
   */
  show(
    value: unknown,
    problems: readonly string[] = [],
    whyOff: string | null = null
  ): void {
    const given = value ?? null;
    if (given !== this._shown) {
      this._shown = given;
      this._input.checked = given === true;
      this._input.value = textOf(given);
    }
    this._field.switchOff(whyOff);
    if (whyOff === null) {
      this._field.showNote(this._comesTo());
    }
    const unreadable = this._input.validity.badInput
      ? [t('This is not a number. Write digits, with a point before decimals.')]
      : [];
    this._field.showProblems([...unreadable, ...problems]);
  }

  /**
   * Say what it means when it is empty; null and undefined: what it means by itself.
   */
  hint(placeholder: unknown): void {
    this._input.placeholder = textOf(
      placeholder ?? this.spec.placeholder ?? null
    );
  }

  focus(): void {
    this._input.closest('details')?.setAttribute('open', '');
    this._input.focus();
  }

  private _comesTo(): string {
    const { kind, help = '' } = this.spec;
    const seconds = kind === 'seconds' ? Number(this._shown) : 0;
    return seconds >= 600 && Number.isFinite(seconds)
      ? `= ${format(seconds, 's')}. ${help}`.trim()
      : '';
  }

  private _read(): void {
    const { checked, type, value } = this._input;
    const given = type === 'number' ? Number(value) : value;
    this._shown = type === 'checkbox' ? checked : value === '' ? null : given;
    this._onChange(this._shown);
  }

  private readonly _input: HTMLInputElement;
  private readonly _field: Field;
  private _shown: unknown;
}

/**
 * Return what a field holds of a value, legal or not.
 */
function textOf(value: unknown): string {
  if (typeof value === 'string') {
    return value;
  }
  return value === null ? '' : JSON.stringify(value);
}

/**
 * Return the values without those that are not given, and with others.
 */
export function withGiven(
  values: Readonly<Record<string, unknown>>,
  name: string,
  value: unknown
): Record<string, unknown> {
  const given = Object.entries({ ...values, [name]: value });
  return Object.fromEntries(given.filter(([, each]) => each !== null));
}
