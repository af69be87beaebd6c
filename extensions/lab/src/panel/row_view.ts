import { h, newId } from '@smtc-lab/ui/dom.js';
import type { IRow } from '@smtc-lab/protocol';
import { isLive, keyOf } from '../connection/row.js';
import type { Texts } from '../texts.js';
import type { IFold } from './folded.js';
import {
  nameWords,
  shortName,
  progress,
  rowFacts,
  stateFacts
} from './words.js';

/**
 * Height of each row in CSS pixels; `panel.css` has it too.
 */
export const ROW_PX = 60;

/**
 * One place of the list, which shows one row after another while the list is scrolled.
 */
export class RowView {
  readonly element: HTMLElement;

  constructor(private readonly _texts: Texts) {
    this.element = h(
      'div',
      { class: 'jp-Smtc-row', role: 'option', id: newId() },
      h('span', { class: 'jp-Smtc-row-head' }, this._toggle, this._name),
      this._state,
      this._facts,
      this._bar
    );
  }

  /**
   * The row that is shown.
   */
  row: IRow | null = null;

  /**
   * Show a row.
   *
   * @param place - From 0, in the whole list.
   * @param size - Of the whole list.
   * @param fold - The launches below it; null: it has none.
   */
  show(
    row: IRow,
    place: number,
    size: number,
    isSelected: boolean,
    fold: IFold | null
  ): void {
    const { element } = this;
    if (this._place !== place) {
      this._place = place;
      element.style.transform = `translateY(${place * ROW_PX}px)`;
      element.setAttribute('aria-posinset', String(place + 1));
    }
    if (this._size !== size) {
      this._size = size;
      element.setAttribute('aria-setsize', String(size));
    }
    if (this._isSelected !== isSelected) {
      this._isSelected = isSelected;
      element.setAttribute('aria-selected', String(isSelected));
    }
    const mark = fold === null ? '' : fold.isOpen ? '▾' : '▸';
    if (this._toggle.textContent !== mark) {
      this._toggle.textContent = mark;
    }
    if (this.row !== row || this._fold !== fold) {
      this.row = row;
      this._fold = fold;
      this._fill(row);
    }
  }

  private _fill(row: IRow): void {
    const share = progress(row);
    this.element.dataset['key'] = keyOf(row);
    this.element.dataset['state'] = isLive(row) ? 'live' : row.state;
    this._name.replaceChildren(...nameParts(row));
    this.element.toggleAttribute('data-is-launch', row.study !== null);
    this._state.textContent = stateFacts(row, this._texts).join(' · ');
    this._facts.toggleAttribute(
      'data-is-billed',
      row.isBilled === true && isLive(row)
    );
    // what is cut at the end of the line, the tooltip has
    const facts = [...this._foldWords(), ...rowFacts(row, this._texts)];
    this._facts.textContent = facts.join(' · ');
    this.element.title = [row.name, row.cluster, row.entryPoint, ...facts]
      .filter(text => text !== '')
      .join('\n');
    this._bar.style.transform = `scaleX(${share ?? 0})`;
  }

  private _foldWords(): readonly string[] {
    if (this._fold === null) {
      return [];
    }
    const { launches, isOpen } = this._fold;
    return [
      isOpen
        ? this._texts.__('launches below: %1', launches)
        : this._texts.__('launches folded: %1', launches)
    ];
  }

  private _fold: IFold | null = null;
  private readonly _toggle = h('span', {
    class: 'jp-Smtc-row-toggle',
    'aria-hidden': 'true'
  });
  private readonly _name = h('span', { class: 'jp-Smtc-row-name' });
  private readonly _state = h('span', { class: 'jp-Smtc-row-facts' });
  private readonly _facts = h('span', { class: 'jp-Smtc-row-facts' });
  private readonly _bar = h('span', {
    class: 'jp-Smtc-row-bar',
    'aria-hidden': 'true'
  });
  private _place = -1;
  private _size = -1;
  private _isSelected: boolean | null = null;
}

/**
 * Return what a row is called in two parts: where it is too long, the first gives way at its end.
 * The second tells it from others that begin alike, and is never cut. The whole name is read
 * aloud, searched for and in the tooltip.
 */
function nameParts(row: IRow): readonly HTMLElement[] {
  const [words, difference] = shortName(row);
  return [
    h('span', { 'aria-hidden': 'true' }, words),
    h('span', { 'aria-hidden': 'true' }, difference),
    h('span', { class: 'jp-Smtc-row-whole' }, nameWords(row))
  ];
}
