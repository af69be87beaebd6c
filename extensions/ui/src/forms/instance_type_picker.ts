import type { Catalog } from '@smtc-lab/protocol';
import { Component, type IComponent } from './component.js';
import { Field } from './field.js';
import { instanceFilters } from './instance_filters.js';
import { InstanceTable } from './instance_table.js';
import {
  choicesOf,
  NO_FILTERS,
  search,
  sorted,
  type IFilters,
  type IOrder
} from './search.js';
import { described, foundText } from './type_words.js';
import { atClick, isKnown, typedType, typeProblems } from './typed_type.js';
import { tell } from '../bounded.js';
import { h } from '../dom.js';

/**
 * A field that chooses an instance type.
 */
export interface IInstanceTypePickerProps {
  readonly label: string;

  /**
   * Name of the chosen type.
   */
  readonly value: string;

  readonly catalog: Catalog;
  readonly problems?: readonly string[];

  /**
   * Returns what each type would bring, in a few words, asked when the list opens and while it
   * is open; left out: nobody knows.
   */
  readonly offers?: () => ReadonlyMap<string, string>;
  readonly onChange: (name: string) => void;
}

/**
 * Make a field that chooses an instance type: a combobox with a table that is searched by
 * typing, narrowed by filters and sorted by its columns.
 */
export function instanceTypePicker(
  host: HTMLElement,
  props: IInstanceTypePickerProps
): IComponent<IInstanceTypePickerProps> {
  return new InstanceTypePicker(host, props);
}

class InstanceTypePicker extends Component<IInstanceTypePickerProps> {
  constructor(host: HTMLElement, props: IInstanceTypePickerProps) {
    super(props);
    this._field = new Field(props.label, this._input);
    this.element = h(
      'div',
      {
        class: 'smtc-picker',
        onfocusout: (event: FocusEvent) => {
          const isInside = this.element.contains(
            event.relatedTarget as Node | null
          );
          if (!isInside && !this._isLeaving) {
            this._take();
          }
        },
        onkeydown: (event: KeyboardEvent) => {
          if (event.key === 'Escape' && this._isOpen) {
            event.stopPropagation(); // it closes this list, and nothing around it
            this._input.focus();
            this._close();
          }
        }
      },
      this._field.element,
      this._panel
    );
    this.appear(host);
  }

  readonly element: HTMLElement;

  override update(changed: Partial<IInstanceTypePickerProps>): void {
    const { catalog } = changed;
    if (catalog !== undefined && catalog !== this.props.catalog) {
      this._close();
      this._panel.replaceChildren();
      this._table = null;
    }
    super.update(changed);
  }

  override dispose(): void {
    this._close(); // what was typed is given up with the form
    super.dispose();
  }

  private get _isOpen(): boolean {
    return !this._panel.hidden;
  }

  protected show(): void {
    const { catalog, problems, value } = this.props;
    if (!this._isOpen) {
      this._input.value = value;
    }
    this._table?.select(value);
    this._tellOffers();
    this._field.showNote(described(value, catalog.get(value)));
    this._field.showProblems(problems ?? typeProblems(value, catalog));
  }

  private _open(): void {
    if (this._isOpen) {
      return;
    }
    const table = this._table ?? this._build();
    this._panel.hidden = false;
    this._input.setAttribute('aria-expanded', 'true');
    this._input.setAttribute('aria-controls', table.grid.id);
    const { catalog, value } = this.props;
    table.select(value);
    this._tellOffers();
    this._query = isKnown(value, catalog) ? '' : value;
    this._list();
    document.addEventListener('mousedown', this._onMouseDown, true);
  }

  private _tellOffers(): void {
    if (this._isOpen && this.props.offers !== undefined) {
      this._table?.tell(this.props.offers());
    }
  }

  private _close(): void {
    if (!this._isOpen) {
      return;
    }
    document.removeEventListener('mousedown', this._onMouseDown, true);
    this._panel.hidden = true;
    this._input.setAttribute('aria-expanded', 'false');
    this._input.removeAttribute('aria-controls');
    this._input.removeAttribute('aria-activedescendant');
    this.show();
  }

  private _build(): InstanceTable {
    const { catalog } = this.props;
    const table = new InstanceTable(choicesOf(catalog), {
      onChoose: name => {
        this._choose(name);
      },
      onOrder: order => {
        this._order = order;
        this._list();
      }
    });
    this._table = table;
    this._filters = NO_FILTERS;
    const filters = instanceFilters(catalog, chosen => {
      this._filters = chosen;
      this._list();
    });
    this._panel.replaceChildren(filters, table.element, this._status);
    return table;
  }

  private _list(): void {
    const { catalog, value } = this.props;
    const choices = choicesOf(catalog);
    const found = search(choices, this._query, this._filters);
    const active = this._query === '' ? value : null;
    this._isNear = found.isNear;
    this._table?.show(sorted(found.choices, this._order), this._order, active);
    const near = found.isNear ? this._query : null;
    tell(this._status, foundText(found.choices.length, choices.length, near));
    this._tellActive();
  }

  private _tellActive(): void {
    const id = this._table?.activeId;
    if (id == null) {
      this._input.removeAttribute('aria-activedescendant');
    } else {
      this._input.setAttribute('aria-activedescendant', id);
    }
  }

  private _onKey(event: KeyboardEvent): void {
    const isArrow = event.key === 'ArrowDown' || event.key === 'ArrowUp';
    if (!this._isOpen && isArrow) {
      event.preventDefault();
      this._open();
    } else if (this._isOpen && event.key === 'Enter') {
      event.preventDefault();
      this._chooseActive();
    } else if (this._isOpen && this._table?.move(event.key) === true) {
      event.preventDefault();
      this._isNear = false; // the nearest is meant, not what was typed
      this._tellActive();
    }
  }

  private _chooseActive(): void {
    const active = this._table?.active ?? null;
    if (active === null || this._isNear) {
      this._take();
    } else {
      this._choose(active);
    }
  }

  private _choose(name: string): void {
    this._input.focus();
    this._set(name);
  }

  /**
   * Take what was typed as it is, known or not, and close the list.
   */
  private _take(): void {
    const { catalog, value } = this.props;
    if (this._isOpen) {
      const typed = this._query === '' ? '' : this._input.value;
      this._set(typedType(typed, catalog) || value);
    }
  }

  private _set(name: string): void {
    const isOther = name !== this.props.value;
    this.props = { ...this.props, value: name };
    if (isOther) {
      this.props.onChange(name);
    }
    this._close();
  }

  private readonly _onMouseDown = (event: MouseEvent): void => {
    if (!event.composedPath().includes(this.element) && !this._isLeaving) {
      this._isLeaving = true;
      atClick(() => {
        this._isLeaving = false;
        this._take();
      });
    }
  };
  private readonly _input = h('input', {
    type: 'text',
    role: 'combobox',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-haspopup': 'grid',
    onclick: () => {
      this._open();
      this._input.select();
    },
    oninput: () => {
      this._open();
      this._query = this._input.value;
      this._list();
    },
    onkeydown: (event: KeyboardEvent) => {
      this._onKey(event);
    }
  });
  private readonly _panel = h('div', { class: 'smtc-panel', hidden: true });
  private readonly _status = h('div', { class: 'smtc-note', role: 'status' });
  private readonly _field: Field;
  private _filters: IFilters = NO_FILTERS;
  private _order: IOrder | null = null;
  private _query = '';
  private _isNear = false;
  private _isLeaving = false;
  private _table: InstanceTable | null = null;
}
