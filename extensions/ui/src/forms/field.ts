import { tellProblems } from '../bounded.js';
import { h, newId } from '../dom.js';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/**
 * A control with its label, what it means, and what is wrong with its value.
 */
export class Field {
  /**
   * @param label - Above the control; of a checkbox, beside it.
   * @param control - An input or a select.
   * @param help - What it means, in one sentence; names of code in double backquotes.
   */
  constructor(
    label: string,
    readonly control: Control,
    help = ''
  ) {
    control.id = newId();
    this._note.id = newId();
    this._problems.id = newId();
    control.setAttribute('aria-describedby', this._note.id);
    const isTick = control.type === 'checkbox';
    const text = h('label', { for: control.id }, label);
    this.element = h(
      'div',
      { class: isTick ? 'smtc-field smtc-tick' : 'smtc-field' },
      ...(isTick ? [h('div', {}, control, text)] : [text, control]),
      this._note,
      this._problems
    );
    this._help = help;
    this.showNote('');
    this.showProblems([]);
  }

  readonly element: HTMLElement;

  /**
   * Show a text in place of the help; empty: the help.
   */
  showNote(text: string): void {
    const shown = text === '' ? this._help : text;
    this._note.replaceChildren(...prose(shown));
    this._note.hidden = shown === '';
  }

  /**
   * Show what is wrong with the value.
   */
  showProblems(texts: readonly string[]): void {
    tellProblems(this._problems, texts);
    this._problems.hidden = texts.length === 0;
    const described = [this._note.id, this._problems.id];
    this.control.setAttribute('aria-describedby', described.join(' '));
    this.control.setAttribute('aria-invalid', String(texts.length > 0));
  }

  /**
   * Switch the control off and say why; null: switch it on.
   */
  switchOff(reason: string | null): void {
    this.control.disabled = reason !== null;
    this.element.classList.toggle('smtc-off', reason !== null);
    this.showNote(reason ?? '');
  }

  private readonly _help: string;
  private readonly _note = h('div', { class: 'smtc-note' });
  private readonly _problems = h('div', { class: 'smtc-problems' });
}

/**
 * Return a text as nodes; what stands in double backquotes as code.
 */
export function prose(text: string): readonly Node[] {
  return text
    .split('``')
    .map((part, place) =>
      place % 2 === 0 ? document.createTextNode(part) : h('code', {}, part)
    );
}

/**
 * Return a select of words; what is shown may differ from the value.
 */
export function selectOf(
  options: readonly (readonly [value: string, shown: string])[],
  onChange: (value: string) => void
): HTMLSelectElement {
  const select = h('select', {
    onchange: () => {
      onChange(select.value);
    }
  });
  setOptions(select, options);
  return select;
}

/**
 * Replace the options of a select; its value stays where it is still among them.
 */
export function setOptions(
  select: HTMLSelectElement,
  options: readonly (readonly [value: string, shown: string])[]
): void {
  const { value } = select;
  const before = [...select.options].map(each => [each.value, each.text]);
  if (JSON.stringify(before) === JSON.stringify(options)) {
    return; // an open list would close
  }
  select.replaceChildren(
    ...options.map(([word, shown]) => h('option', { value: word }, shown))
  );
  if (options.some(([word]) => word === value)) {
    select.value = value;
  }
}
