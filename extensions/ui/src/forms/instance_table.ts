import { priceDigits, UNKNOWN } from './price.js';
import type { Column, IChoice, IOrder } from './search.js';
import { button, h, newId } from '../dom.js';
import { mark, t } from '../i18n.js';

const COLUMNS: readonly (readonly [Column, string])[] = [
  ['name', mark('Type')],
  ['vcpus', 'vCPUs'],
  ['memory', 'GiB'],
  ['accelerator', mark('Accelerator')],
  ['network', 'Gbit/s'],
  ['price', 'USD/h']
];

/** What bars below the numbers of a column tell. */
const SIZES: ReadonlyMap<Column, (type: IType) => number | null> = new Map([
  ['vcpus', type => type.vcpus],
  ['memory', type => type.memoryGib],
  ['price', type => type.price?.usdPerHour ?? null]
]);

const PAGE = 8;

type IType = NonNullable<IChoice['type']>;

/**
 * What the table of instance types tells.
 */
export interface IInstanceTableCallbacks {
  /**
   * A row was chosen by mouse.
   */
  readonly onChoose: (name: string) => void;

  /**
   * A heading was pressed. Null: the order of the search.
   */
  readonly onOrder: (order: IOrder | null) => void;
}

/**
 * The rows of a list of instance types, one of which is active: the arrows move it, and Enter
 * chooses it. The focus stays in the field that is searched with.
 */
export class InstanceTable {
  constructor(
    choices: readonly IChoice[],
    private readonly _callbacks: IInstanceTableCallbacks
  ) {
    for (const choice of choices) {
      this._rows.set(choice.name, this._row(choice));
    }
    for (const [column, label] of COLUMNS) {
      this._headings.set(column, this._heading(column, t(label)));
    }
    // the roles are said outright, because a narrow list is no table to CSS
    const head = h('tr', { role: 'row' }, ...this._headings.values());
    this.grid = h(
      'table',
      { id: newId(), role: 'grid', 'aria-label': t('Instance types') },
      h('thead', { role: 'rowgroup' }, head),
      this._body
    );
    this.element = h(
      'div',
      {
        class: 'smtc-scroll smtc-types',
        // a row that is pressed must not take the focus from the field
        onmousedown: (event: MouseEvent) => {
          event.preventDefault();
        }
      },
      this.grid
    );
  }

  readonly element: HTMLElement;

  readonly grid: HTMLTableElement;

  /**
   * Name of the active type; null: there is none.
   */
  get active(): string | null {
    return this._names[this._place] ?? null;
  }

  /**
   * Id of the active row, for `aria-activedescendant`.
   */
  get activeId(): string | null {
    return this._activeRow()?.id ?? null;
  }

  /**
   * Show some of the choices, in this order, and make one of them active.
   */
  show(
    choices: readonly IChoice[],
    order: IOrder | null,
    active: string | null
  ): void {
    this._activeRow()?.classList.remove('smtc-active');
    this._names = choices.map(choice => choice.name);
    const rows = this._names.map(name => this._rows.get(name));
    this._body.replaceChildren(...rows.filter(row => row !== undefined));
    this._measure(choices);
    this._order = order;
    for (const [column, heading] of this._headings) {
      const isSorted = order?.column === column;
      const word = order?.isDescending === true ? 'descending' : 'ascending';
      heading.setAttribute('aria-sort', isSorted ? word : 'none');
    }
    this._activate(Math.max(0, this._names.indexOf(active ?? '')));
  }

  /**
   * Mark the type that is chosen at present.
   */
  select(name: string): void {
    for (const [other, row] of this._rows) {
      row.setAttribute('aria-selected', String(other === name));
    }
  }

  /**
   * Tell what each type would bring, below its name.
   *
   * @param offers - In a few words, by the name of the type.
   */
  tell(offers: ReadonlyMap<string, string>): void {
    for (const [name, row] of this._rows) {
      const cell = row.querySelector('.smtc-name');
      const text = offers.get(name) ?? '';
      const told = cell?.querySelector('small') ?? null;
      if (text === '') {
        told?.remove();
      } else if (told === null) {
        cell?.append(h('small', {}, `→ ${text}`));
      } else {
        told.textContent = `→ ${text}`;
      }
    }
  }

  /**
   * Move the active row as a key says.
   *
   * @returns Whether the key is one that moves.
   */
  move(key: string): boolean {
    const last = this._names.length - 1;
    const places: Readonly<Record<string, number>> = {
      ArrowDown: this._place + 1,
      ArrowUp: this._place - 1,
      End: last,
      Home: 0,
      PageDown: this._place + PAGE,
      PageUp: this._place - PAGE
    };
    const place = places[key];
    if (place === undefined) {
      return false;
    }
    this._activate(Math.min(last, Math.max(0, place)));
    return true;
  }

  /**
   * Draw price and size as bars. Types differ a thousandfold: each doubling is as long.
   */
  private _measure(choices: readonly IChoice[]): void {
    for (const [column, size] of SIZES) {
      const sizes = choices.map(
        ({ type }) => (type === null ? null : size(type)) ?? 0
      );
      const known = sizes.filter(one => one > 0);
      const smallest = Math.min(...known);
      const doublings = Math.log2(Math.max(...known) / smallest);
      for (const [place, { name }] of choices.entries()) {
        const one = sizes[place] ?? 0;
        const share = (Math.log2(one / smallest) + 1) / (doublings + 1);
        this._rows
          .get(name)
          ?.querySelector<HTMLElement>(`.smtc-${column}`)
          ?.style.setProperty(
            '--smtc-share',
            one > 0 ? `${100 * share}%` : '0'
          );
      }
    }
  }

  private _activate(place: number): void {
    this._activeRow()?.classList.remove('smtc-active');
    this._place = place;
    const row = this._activeRow();
    if (row !== undefined) {
      row.classList.add('smtc-active');
      this._reveal(row);
    }
  }

  /**
   * Scroll the list, and not the page, until a row can be seen.
   */
  private _reveal(row: HTMLElement): void {
    const list = this.element;
    const head = this.grid.tHead?.offsetHeight ?? 0;
    if (row.offsetTop - head < list.scrollTop) {
      list.scrollTop = row.offsetTop - head;
    }
    const end = row.offsetTop + row.offsetHeight - list.clientHeight;
    if (end > list.scrollTop) {
      list.scrollTop = end;
    }
  }

  private _activeRow(): HTMLTableRowElement | undefined {
    return this._rows.get(this.active ?? '');
  }

  private _row(choice: IChoice): HTMLTableRowElement {
    return h(
      'tr',
      {
        id: newId(),
        role: 'row',
        'aria-selected': 'false',
        onclick: () => {
          this._callbacks.onChoose(choice.name);
        }
      },
      ...cellsOf(choice)
    );
  }

  private _heading(column: Column, label: string): HTMLTableCellElement {
    const press = (): void => {
      this._callbacks.onOrder(nextOrder(this._order, column));
    };
    return h(
      'th',
      { role: 'columnheader', scope: 'col', class: `smtc-${column}` },
      button(label, press)
    );
  }

  private readonly _body = h('tbody', { role: 'rowgroup' });
  private readonly _headings = new Map<Column, HTMLTableCellElement>();
  private readonly _rows = new Map<string, HTMLTableRowElement>();
  private _names: readonly string[] = [];
  private _order: IOrder | null = null;
  private _place = 0;
}

/**
 * First ascending, then descending, then as the search has it.
 */
function nextOrder(order: IOrder | null, column: Column): IOrder | null {
  if (order?.column !== column) {
    return { column, isDescending: false };
  }
  return order.isDescending ? null : { column, isDescending: true };
}

function cellsOf({ name, type }: IChoice): readonly HTMLElement[] {
  const cell = (column: Column, text: string): HTMLElement =>
    h('td', { role: 'gridcell', class: `smtc-${column}` }, text);
  if (type === null) {
    const rest = h(
      'td',
      { role: 'gridcell', colspan: COLUMNS.length - 1 },
      t('this machine as it is, without a price')
    );
    return [cell('name', name), rest];
  }
  const { price } = type;
  const origin = price === null ? null : `${price.kind} ${price.date}`;
  return [
    cell('name', name),
    cell('vcpus', String(type.vcpus)),
    cell('memory', String(type.memoryGib)),
    cell('accelerator', acceleratorText(type)),
    cell('network', type.networkGbps?.toString() ?? UNKNOWN),
    h(
      'td',
      { role: 'gridcell', class: 'smtc-price' },
      priceDigits(price?.usdPerHour ?? null),
      origin === null ? null : h('small', {}, ` ${origin}`)
    )
  ];
}

function acceleratorText(type: IType): string {
  return type.accelerator === null
    ? 'none'
    : `${type.acceleratorCount} × ${type.accelerator}`;
}
