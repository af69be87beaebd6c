import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IColumn } from './page.js';
import { titleOf } from './words.js';

const GROUPS = ['', 'param.', 'metric.'];

/**
 * Chooses columns: a box that opens, with a search and a checkbox for each.
 */
export class ColumnChooser {
  readonly element: HTMLDetailsElement;

  /**
   * @param _choose - Called with the names of the columns that are wanted, in order.
   */
  constructor(private readonly _choose: (names: readonly string[]) => void) {
    this._search = h('input', {
      type: 'search',
      'aria-label': t('Search columns'),
      placeholder: t('Search columns'),
      oninput: this._filter
    });
    this._list.addEventListener('change', this._changed);
    this.element = h(
      'details',
      { class: 'smtc-columns' },
      h('summary', {}, t('Columns')),
      this._search,
      this._list
    );
  }

  /**
   * Show what can be chosen, and what is.
   */
  show(known: readonly IColumn[], shown: readonly IColumn[]): void {
    const names = shown.map(({ name }) => name);
    const key = JSON.stringify([known, names]);
    if (key === this._key) {
      return;
    }
    this._key = key;
    this._names = names;
    const words = [t('Of every run'), t('Parameters'), t('Metrics')];
    const focused = (document.activeElement as HTMLInputElement | null)?.value;
    const hadFocus = this._list.contains(document.activeElement);
    this._list.replaceChildren(
      ...GROUPS.map((begin, place) =>
        h(
          'fieldset',
          {},
          h('legend', {}, words[place] ?? ''),
          ...known.filter(one => groupOf(one) === begin).map(this._box)
        )
      )
    );
    this._filter();
    if (hadFocus) {
      this._boxes.find(({ value }) => value === focused)?.focus();
    }
  }

  private readonly _box = (column: IColumn): HTMLElement =>
    h(
      'label',
      { title: column.name },
      h('input', {
        type: 'checkbox',
        value: column.name,
        checked: this._names.includes(column.name)
      }),
      titleOf(column)
    );

  private readonly _changed = (): void => {
    const wanted = this._boxes.filter(box => box.checked);
    const names = wanted.map(({ value }) => value);
    this._choose([
      ...this._names.filter(name => names.includes(name)),
      ...names.filter(name => !this._names.includes(name))
    ]);
  };

  private readonly _filter = (): void => {
    const words = this._search.value.toLowerCase();
    for (const box of this._boxes) {
      const label = box.parentElement as HTMLElement;
      const text = `${box.value} ${label.textContent}`.toLowerCase();
      label.hidden = !text.includes(words);
    }
    for (const group of this._list.querySelectorAll('fieldset')) {
      group.hidden = group.querySelector('label:not([hidden])') === null;
    }
  };

  private get _boxes(): readonly HTMLInputElement[] {
    return [...this._list.querySelectorAll('input')];
  }

  private readonly _list = h('div', { class: 'smtc-columns-list' });
  private readonly _search: HTMLInputElement;
  private _names: readonly string[] = [];
  private _key = '';
}

function groupOf({ name }: IColumn): string {
  return GROUPS.find(begin => begin !== '' && name.startsWith(begin)) ?? '';
}
