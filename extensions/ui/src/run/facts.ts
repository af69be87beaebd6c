import { h } from '../dom.js';

/**
 * Names and values, each changed only when it is another one: what a user has selected stays.
 */
export class Facts {
  readonly element = h('dl', { class: 'smtc-facts' });

  /**
   * Show a value, behind those that are there when its name is new.
   *
   * @param name - What it is.
   * @param value - In words, with its unit.
   * @param note - Said behind it in a lighter colour.
   */
  set(name: string, value: string, note = ''): void {
    let row = this._rows.get(name);
    if (row === undefined) {
      row = {
        value: h('span', { class: 'smtc-number' }),
        note: h('span', { class: 'smtc-note' })
      };
      this._rows.set(name, row);
      this.element.append(
        h('div', {}, h('dt', {}, name), h('dd', {}, row.value, ' ', row.note))
      );
    }
    write(row.value, value);
    write(row.note, note);
  }

  private readonly _rows = new Map<
    string,
    { readonly value: HTMLElement; readonly note: HTMLElement }
  >();
}

function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}
