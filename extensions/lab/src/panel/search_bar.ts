import { h } from '@smtc-lab/ui/dom.js';
import type { Texts } from '../texts.js';
import type { Show } from './filter.js';

/**
 * Says which rows are wanted.
 */
export class SearchBar {
  readonly element: HTMLElement;

  /**
   * @param changed - Called when the user wants others.
   */
  constructor(texts: Texts, changed: () => void) {
    const names: Readonly<Record<Show, string>> = {
      all: texts.__('All'),
      live: texts.__('Running'),
      ended: texts.__('Ended'),
      failed: texts.__('Failed'),
      comparisons: texts.__('Comparisons')
    };
    this._words = h('input', {
      type: 'search',
      'aria-label': texts.__('Search runs'),
      title: texts.__('Search name, cluster, script'),
      placeholder: texts.__('Search runs'),
      spellcheck: 'false',
      oninput: changed
    });
    this._show = h(
      'select',
      { 'aria-label': texts.__('Which runs'), onchange: changed },
      ...Object.entries(names).map(([value, name]) =>
        h('option', { value }, name)
      )
    );
    this.element = h(
      'div',
      { class: 'jp-Smtc-search', role: 'search' },
      this._words,
      this._show
    );
  }

  get words(): string {
    return this._words.value;
  }

  get show(): Show {
    return this._show.value as Show;
  }

  /**
   * Want all rows again.
   */
  clear(): void {
    this._words.value = '';
    this._show.value = 'all';
  }

  private readonly _words: HTMLInputElement;
  private readonly _show: HTMLSelectElement;
}
