import type { IComparisonInfo, IRowInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IPart } from './part.js';

/**
 * The table of set-ups: one column each, in the colour that it has in all charts.
 */
export class SetUpTable implements IPart {
  readonly element: HTMLElement;

  constructor() {
    this.element = h(
      'div',
      {
        class: 'smtc-scroll',
        role: 'region',
        'aria-label': t('Table of set-ups'),
        tabindex: 0
      },
      h('table', { class: 'smtc-set-ups' }, this._head, this._body)
    );
  }

  update(info: IComparisonInfo): void {
    this._caption(info);
    this._fill(info.rows);
  }

  dispose(): void {
    this.element.remove();
  }

  private _caption(info: IComparisonInfo): void {
    if (this._head.childElementCount === 0) {
      this._head.append(
        h(
          'tr',
          {},
          h('td', {}),
          ...info.setUps.map((setUp, place) =>
            h(
              'th',
              { scope: 'col' },
              h('span', {
                class: 'smtc-swatch',
                style: `background: var(--smtc-color-${place % 5})`,
                'aria-hidden': 'true'
              }),
              setUp.label
            )
          )
        )
      );
    }
  }

  private _fill(rows: readonly IRowInfo[]): void {
    const text = JSON.stringify(rows);
    if (text === this._shown) {
      return;
    }
    this._shown = text; // what a user has selected stays selected while nothing changes
    this._body.replaceChildren(
      ...rows.map(row =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, row.label),
          ...row.cells.map(lines =>
            h(
              'td',
              { class: 'smtc-number' },
              ...lines.map(line => h('div', {}, line))
            )
          )
        )
      )
    );
  }

  private readonly _head = h('thead', {});
  private readonly _body = h('tbody', {});
  private _shown = '';
}
