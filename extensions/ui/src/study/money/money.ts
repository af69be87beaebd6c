import type { IComparisonInfo } from '@smtc-lab/protocol';
import { saveCsv } from '../../charts/save.js';
import { tableElement } from '../../charts/table_view.js';
import { Toolbar } from '../../charts/toolbar.js';
import { keepingTools, type ITooled } from '../../charts/tools.js';
import { format } from '../../charts/units.js';
import { h, newId } from '../../dom.js';
import { t } from '../../i18n.js';
import type { IPart } from '../../monitor/part.js';
import { patch } from '../../patch.js';
import { letterOf } from '../../picture/set_up_mark.js';
import { barsOfLaunches, barsOfSteps, type IBar } from './bars.js';
import { CAUSES, INSTANCES } from './causes.js';
import { drawBars, drawKey, hatchings } from './drawing.js';
import { saveMoney } from './image.js';

/**
 * Where the money goes: a bar for each set-up of what its steps are paid for, and where the whole
 * launches are on one scale, of those too. Hatched is paid for waiting.
 */
export class Money
  implements
    IPart<IComparisonInfo>,
    Pick<ITooled, 'isTable' | 'toggleTable' | 'save'>
{
  readonly element: HTMLElement;

  constructor() {
    const titleId = newId();
    this._toolbar = new Toolbar(
      t('Tools of %1', this._title),
      keepingTools(this, () => true)
    );
    this.element = h(
      'figure',
      {
        class: 'smtc-chart smtc-money',
        'aria-labelledby': titleId,
        hidden: true
      },
      h(
        'div',
        { class: 'smtc-chart-head' },
        h('figcaption', { id: titleId }, this._title),
        this._toolbar.element
      ),
      hatchings(this._id),
      this._bars,
      this._table
    );
  }

  update(info: IComparisonInfo): void {
    this._steps = barsOfSteps(info);
    this._launches = barsOfLaunches(info);
    this.element.hidden = this._steps.length === 0;
    if (!this.element.hidden) {
      this._draw();
    }
  }

  get isTable(): boolean {
    return !this._table.hidden;
  }

  toggleTable(): void {
    this._table.hidden = !this._table.hidden;
    this._bars.hidden = this.isTable;
    this._draw();
  }

  /**
   * Let the browser save it; an image is of the steps alone.
   */
  async save(kind: 'csv' | 'png' | 'svg'): Promise<void> {
    if (kind === 'csv') {
      saveCsv(this._title, [this._head, ...this._lines()]);
      return;
    }
    await saveMoney(kind, this.element, {
      title: this._title,
      subtitle: this._subtitle,
      bars: this._steps
    });
  }

  private _draw(): void {
    const label = (words: string): HTMLElement =>
      h('p', { class: 'smtc-chart-label' }, words);
    const launches =
      this._launches.length === 0
        ? []
        : [
            label(t('USD of one launch by cause')),
            ...drawBars(this._launches, this._id),
            ...drawKey(this._launches, this._id)
          ];
    if (this.isTable) {
      patch(this._table, [this._tableOf()]);
    } else {
      patch(this._bars, [
        label(this._subtitle),
        ...drawBars(this._steps, this._id),
        ...drawKey(this._steps, this._id),
        ...launches
      ]);
    }
  }

  private get _subtitle(): string {
    return t('USD per 1,000 steps by cause; hatched: paid for, but waiting');
  }

  /**
   * The lines of the table and of the CSV file.
   */
  private *_lines(): Generator<
    readonly [string, string, string, string, number, string]
  > {
    const kinds = [
      [t('1,000 steps'), this._steps],
      [t('one launch'), this._launches]
    ] as const;
    for (const [of, bars] of kinds) {
      for (const { place, label, parts } of bars) {
        for (const { cause, usd, isWaiting } of parts) {
          const { of: who, words } = CAUSES[cause];
          const waits = isWaiting ? t('waiting') : '';
          const name = `${letterOf(place)} ${label}`;
          yield [name, of, t(INSTANCES[who]), t(words), usd, waits];
        }
      }
    }
  }

  private get _head(): readonly [string, ...string[]] {
    return [t('Set-up'), t('per'), t('instances'), t('cause'), 'USD', ''];
  }

  private _tableOf(): HTMLElement {
    return tableElement({
      caption: this._subtitle,
      head: this._head,
      rows: Array.from(this._lines(), ([name, of, who, words, usd, waits]) => [
        ...[name, of, who, words, format(usd, 'USD'), waits]
      ])
    });
  }

  private readonly _title = t('Where the money goes');
  private readonly _id = newId();
  private readonly _bars = h('div', { class: 'smtc-money-bars' });
  private readonly _table = h('div', {
    class: 'smtc-chart-table',
    hidden: true,
    tabindex: 0,
    role: 'group',
    'aria-label': t('Table of %1', this._title)
  });
  private readonly _toolbar: Toolbar;
  private _steps: readonly IBar[] = [];
  private _launches: readonly IBar[] = [];
}
