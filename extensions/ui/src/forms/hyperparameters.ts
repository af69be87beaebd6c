import {
  hyperparameterCountProblem,
  hyperparameterNameProblem,
  pythonRepr,
  type JsonObject
} from '@smtc-lab/protocol';
import { Component, isSameJson, type IComponent } from './component.js';
import { Field } from './field.js';
import { tellProblems } from '../bounded.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';

/**
 * A table of hyperparameters.
 */
export interface IHyperparametersProps {
  /**
   * Values of JSON by name.
   */
  readonly values: JsonObject;

  /**
   * What Python found wrong; those that are found here too are shown once.
   */
  readonly problems?: readonly string[];

  /**
   * Called with every change. A name that is given twice counts once, with the first value.
   */
  readonly onChange: (values: JsonObject) => void;
}

interface IRow {
  readonly element: HTMLElement;
  readonly name: Field;
  readonly value: Field;
}

const LONG_WHOLE = /^-?\d{16,}$/;

/**
 * Make a table of names and values. A value is JSON, or else plain text.
 */
export function hyperparameters(
  host: HTMLElement,
  props: IHyperparametersProps
): IComponent<IHyperparametersProps> {
  return new Hyperparameters(host, props);
}

/**
 * Return the value that a text stands for: JSON, or else the text itself.
 */
export function valueOfText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/**
 * Return the text that stands for a value; a text is in quotes only where it would be taken for
 * something else.
 */
export function textOfValue(value: unknown): string {
  return typeof value === 'string' && valueOfText(value) === value
    ? value
    : JSON.stringify(value);
}

class Hyperparameters extends Component<IHyperparametersProps> {
  constructor(host: HTMLElement, props: IHyperparametersProps) {
    super(props);
    this.element = h(
      'div',
      { class: 'smtc-hyperparameters' },
      this._list,
      this._empty,
      h('div', { class: 'smtc-row' }, this._add),
      this._problems
    );
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    // a row may be written otherwise, or have no name yet, and mean the same
    if (!isSameJson(this.props.values, this._values())) {
      this._rows = Object.entries(this.props.values).map(([name, value]) =>
        this._row(name, textOfValue(value))
      );
      this._list.replaceChildren(...this._rows.map(row => row.element));
    }
    this._showProblems();
  }

  private _change(): void {
    this.props = { ...this.props, values: this._values() };
    this._showProblems();
    this.props.onChange(this.props.values);
  }

  private _values(): JsonObject {
    const pairs = this._rows
      .map(row => [row.name.control.value, row.value.control.value] as const)
      .filter(([name]) => name !== '')
      .map(([name, text]) => [name, valueOfText(text)] as const);
    const values = new Map<string, unknown>();
    for (const [name, value] of pairs) {
      if (!values.has(name)) {
        values.set(name, value);
      }
    }
    return Object.fromEntries(values);
  }

  private _row(nameText: string, valueText: string): IRow {
    const input = (value: string): HTMLInputElement =>
      h('input', {
        type: 'text',
        spellcheck: 'false',
        autocomplete: 'off',
        value,
        oninput: () => {
          this._change();
        }
      });
    const name = new Field(t('Name'), input(nameText));
    const value = new Field(t('Value'), input(valueText));
    const remove = button(t('Remove'), () => {
      this._remove(row);
    });
    const element = h('div', { class: 'smtc-row', role: 'group' });
    element.append(name.element, value.element, remove);
    const row = { element, name, value };
    return row;
  }

  private _addRow(): void {
    const row = this._row('', '');
    this._rows.push(row);
    this._list.append(row.element);
    this._showProblems();
    row.name.control.focus();
  }

  private _remove(row: IRow): void {
    const place = this._rows.indexOf(row);
    this._rows = this._rows.filter(other => other !== row);
    row.element.remove();
    this._change();
    const next = this._rows[place] ?? this._rows.at(-1);
    (next?.element.querySelector('button') ?? this._add).focus();
  }

  private _showProblems(): void {
    const names = this._rows.map(row => row.name.control.value);
    const shown = new Set<string>();
    this._rows.forEach((row, place) => {
      const name = names[place] ?? '';
      const isTwice = names.indexOf(name) < place;
      const problem = nameProblem(name, isTwice);
      row.name.showProblems(problem === null ? [] : [problem]);
      row.value.showProblems(valueProblems(row.value.control.value));
      row.element.setAttribute('aria-label', t('Hyperparameter %1', name));
      row.element
        .querySelector('button')
        ?.setAttribute('aria-label', t('Remove %1', name));
      if (problem !== null) {
        shown.add(problem);
      }
    });
    this._empty.hidden = this._rows.length > 0;
    const count = hyperparameterCountProblem(this._rows.length);
    const texts = [...(count === null ? [] : [count]), ...this._others(shown)];
    tellProblems(this._problems, texts);
  }

  private _others(shown: ReadonlySet<string>): readonly string[] {
    return (this.props.problems ?? []).filter(text => !shown.has(text));
  }

  private readonly _list = h('div');
  private readonly _empty = h(
    'p',
    { class: 'smtc-note' },
    t('None: the script runs with its own values.')
  );
  private readonly _add = button(t('Add a hyperparameter'), () => {
    this._addRow();
  });
  private readonly _problems = h('div', { role: 'status' });
  private _rows: IRow[] = [];
}

function nameProblem(name: string, isTwice: boolean): string | null {
  if (name === '') {
    return null; // it is about to be typed, and counts for nothing until then
  }
  return isTwice
    ? `Hyperparameter ${pythonRepr(name)} is given twice; this one is without effect. Rename it.`
    : hyperparameterNameProblem(name);
}

function valueProblems(text: string): readonly string[] {
  return LONG_WHOLE.test(text) && !Number.isSafeInteger(Number(text))
    ? [
        `${text} has more digits than a browser keeps. Put it in double quotes, or give it in ` +
          'Python.'
      ]
    : [];
}
