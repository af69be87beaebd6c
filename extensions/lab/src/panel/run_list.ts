import { h } from '@smtc-lab/ui/dom.js';
import type { IRow } from '@smtc-lab/protocol';
import { keyOf } from '../connection/row.js';
import type { Texts } from '../texts.js';
import type { IFold } from './folded.js';
import { ROW_PX, RowView } from './row_view.js';

const OVERSCAN = 4;

/**
 * What the list tells.
 */
export interface IRunListOptions {
  readonly texts: Texts;

  /**
   * A row was opened: Enter, or double click.
   */
  readonly open: (row: IRow) => void;

  /**
   * A row is to go: Delete.
   */
  readonly remove: (row: IRow) => void;

  /**
   * The launches of a study are to be shown or not: Right, Left, or a click on its mark.
   */
  readonly fold: (study: IRow, isOpen: boolean) => void;

  /**
   * Another row is selected; null: none.
   */
  readonly select: (row: IRow | null) => void;
}

/**
 * A list of any length: only the rows in sight are in the page. The focus stays on the list,
 * which names its active row, so that scrolling never takes it away.
 */
export class RunList {
  readonly element: HTMLElement;

  constructor(private readonly _options: IRunListOptions) {
    this._sizer = h('div', {
      class: 'jp-Smtc-list-rows',
      role: 'presentation'
    });
    this.element = h(
      'div',
      {
        class: 'jp-Smtc-list',
        role: 'listbox',
        tabindex: 0,
        'aria-label': _options.texts.__('Runs'),
        onscroll: this._draw,
        onkeydown: this._onKey,
        onpointerdown: this._onPointer,
        ondblclick: () => {
          this._withSelected(_options.open);
        },
        onfocus: () => {
          if (this._selectedPlace() < 0) {
            this._select(0);
          }
        }
      },
      this._sizer
    );
    this._observer = new ResizeObserver(this._draw);
    this._observer.observe(this.element);
  }

  /**
   * Return the row that an element of the list belongs to; null: none.
   */
  rowAt(element: Element): IRow | null {
    const view = this._views.find(place => place.element.contains(element));
    return view?.row ?? null;
  }

  /**
   * Show these rows. What was selected stays so, wherever it is now.
   */
  update(
    rows: readonly IRow[],
    folds: ReadonlyMap<string, IFold> = new Map()
  ): void {
    this._rows = rows;
    this._folds = folds;
    this._sizer.style.height = `${rows.length * ROW_PX}px`;
    const selected = rows[this._selectedPlace()] ?? null;
    this._options.select(selected);
    this._draw();
  }

  dispose(): void {
    this._observer.disconnect();
  }

  private _selectedPlace(): number {
    return this._rows.findIndex(row => keyOf(row) === this._selectedKey);
  }

  private _select(place: number): void {
    const row = this._rows[Math.max(0, Math.min(place, this._rows.length - 1))];
    if (row !== undefined) {
      this._selectedKey = keyOf(row);
      this._options.select(row);
      this._reveal(this._rows.indexOf(row));
      this._draw();
    }
  }

  private _reveal(place: number): void {
    const top = place * ROW_PX;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) {
      this.element.scrollTop = top;
    } else if (top + ROW_PX > scrollTop + clientHeight) {
      this.element.scrollTop = top + ROW_PX - clientHeight;
    }
  }

  private _withSelected(act: (row: IRow) => void): void {
    const row = this._rows[this._selectedPlace()];
    if (row !== undefined) {
      act(row);
    }
  }

  private readonly _draw = (): void => {
    const { scrollTop, clientHeight } = this.element;
    const size = this._rows.length;
    const first = Math.max(0, Math.floor(scrollTop / ROW_PX) - OVERSCAN);
    const end = Math.min(
      size,
      Math.ceil((scrollTop + clientHeight) / ROW_PX) + OVERSCAN
    );
    while (this._views.length < end - first) {
      const view = new RowView(this._options.texts);
      this._views.push(view);
      this._sizer.append(view.element);
    }
    const selected = this._selectedPlace();
    let active: RowView | null = null;
    for (let place = first; place < end; place++) {
      // a row keeps its element while it is in sight
      const view = this._views[place % this._views.length] as RowView;
      const row = this._rows[place] as IRow;
      const fold = this._folds.get(keyOf(row)) ?? null;
      view.show(row, place, size, place === selected, fold);
      active = place === selected ? view : active;
      view.element.hidden = false;
    }
    this._views.forEach((view, spot) => {
      const place = first + mod(spot - first, this._views.length);
      if (place >= end) {
        view.element.hidden = true;
      }
    });
    if (active === null) {
      this.element.removeAttribute('aria-activedescendant');
    } else {
      this.element.setAttribute('aria-activedescendant', active.element.id);
    }
  };

  private readonly _onKey = (event: KeyboardEvent): void => {
    const place = this._selectedPlace();
    const page = Math.max(
      1,
      Math.floor(this.element.clientHeight / ROW_PX) - 1
    );
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => {
        this._select(place + 1);
      },
      ArrowUp: () => {
        this._select(place - 1);
      },
      PageDown: () => {
        this._select(place + page);
      },
      PageUp: () => {
        this._select(place - page);
      },
      Home: () => {
        this._select(0);
      },
      End: () => {
        this._select(this._rows.length - 1);
      },
      ArrowRight: () => {
        this._withSelected(row => {
          this._foldTo(row, true);
        });
      },
      ArrowLeft: () => {
        this._withSelected(row => {
          this._foldTo(row, false);
        });
      },
      Enter: () => {
        this._withSelected(this._options.open);
      },
      Delete: () => {
        this._withSelected(this._options.remove);
      }
    };
    const act = acts[event.key];
    if (act && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      act();
    }
  };

  private readonly _onPointer = (event: PointerEvent): void => {
    const row = this.rowAt(event.target as Element);
    if (row !== null) {
      this._select(this._rows.indexOf(row));
      const isMark = (event.target as Element).matches('.jp-Smtc-row-toggle');
      const fold = this._folds.get(keyOf(row));
      if (isMark && fold !== undefined) {
        this._foldTo(row, !fold.isOpen);
      }
    }
  };

  /**
   * Show the launches of a study, or fold them; of a launch, those of its study.
   */
  private _foldTo(row: IRow, isOpen: boolean): void {
    if (this._folds.has(keyOf(row))) {
      this._options.fold(row, isOpen);
      return;
    }
    const place = this._rows.findIndex(
      ({ kind, name }) => kind !== 'run' && name === row.study
    );
    if (!isOpen && place >= 0) {
      this._select(place); // as in a tree, Left goes to what holds it
    }
  }

  private readonly _sizer: HTMLElement;
  private readonly _observer: ResizeObserver;
  private readonly _views: RowView[] = [];
  private _rows: readonly IRow[] = [];
  private _folds: ReadonlyMap<string, IFold> = new Map();
  private _selectedKey = '';
}

function mod(value: number, size: number): number {
  return ((value % size) + size) % size;
}
