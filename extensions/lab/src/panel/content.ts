import '@smtc-lab/ui/styles/index.css';
import './panel.css';
import { format } from '@smtc-lab/ui/charts/units.js';
import { button, h } from '@smtc-lab/ui/dom.js';
import { runCell } from '../cells.js';
import type { IRow } from '@smtc-lab/protocol';
import { isLive, keyOf } from '../connection/row.js';
import { dragCells } from '../drag.js';
import { ProblemBox } from '../problem_box.js';
import type { Texts } from '../texts.js';
import type { ILab, IStream } from '../tokens.js';
import type { IAction } from './actions.js';
import { filtered, isListed } from './filter.js';
import { folded, foldsOf, ownOf, unfolded } from './folded.js';
import { RunList } from './run_list.js';
import { SearchBar } from './search_bar.js';
import { nameWords, stateWords } from './words.js';

/**
 * The list of runs with all that belongs to it.
 */
export class PanelContent {
  readonly element: HTMLElement;

  /**
   * @param actions - Buttons above the list.
   */
  constructor(
    private readonly _lab: ILab,
    private readonly _stream: IStream,
    private readonly _texts: Texts,
    actions: readonly IAction[]
  ) {
    this._problem = new ProblemBox(_texts, () => {
      _stream.connect();
    });
    this._search = new SearchBar(_texts, this._update);
    this._list = new RunList({
      texts: _texts,
      open: ({ name, kind }) => {
        void _lab.open(name, kind);
      },
      remove: row => {
        void (isLive(row)
          ? _lab.stop(row.name, row.kind)
          : _lab.delete(row.name, row.kind));
      },
      fold: (study, isOpen) => {
        this._opened.set(keyOf(study), isOpen);
        this._update();
      },
      select: this._select
    });
    this._actions = actions.map(action => ({
      ...action,
      button: h(
        'button',
        { type: 'button', title: action.caption, onclick: action.run },
        action.label
      )
    }));
    this.element = h(
      'div',
      { class: 'smtc jp-Smtc-runs' },
      this._problem.element,
      h(
        'div',
        {
          class: 'jp-Smtc-actions',
          role: 'group',
          'aria-label': _texts.__('Actions')
        },
        ...this._actions.map(({ button }) => button)
      ),
      this._search.element,
      this._count,
      this._empty,
      this._list.element,
      this._news
    );
    this._leaveDrag = dragCells(this._list.element, taken => {
      const row = this._list.rowAt(taken);
      return (
        row && { code: runCell(row.name, row.kind), label: nameWords(row) }
      );
    });
    _stream.runs.changed.connect(this._soon);
    _stream.changed.connect(this._soon);
    this._update();
    this._select(null);
  }

  /**
   * Put the keyboard to the list.
   */
  focus(): void {
    this._list.element.focus();
  }

  dispose(): void {
    this._stream.runs.changed.disconnect(this._soon);
    this._stream.changed.disconnect(this._soon);
    this._leaveDrag();
    this._list.dispose();
    this.element.remove();
  }

  /**
   * Update at most once for each frame.
   */
  private readonly _soon = (): void => {
    if (this._frame === 0) {
      this._frame = requestAnimationFrame(() => {
        this._frame = 0;
        this._update();
      });
    }
  };

  private readonly _update = (): void => {
    const { runs, problem, state } = this._stream;
    const wrong =
      problem ??
      (runs.problem === '' ? null : { message: runs.problem, command: null });
    this._problem.show(wrong, state === 'refused' || state === 'cut');
    const found = filtered(runs.rows, this._search.show, this._search.words);
    const isSearch = found !== runs.rows;
    const rows = isSearch ? found : found.filter(isListed);
    const all = isSearch ? runs.rows : rows;
    if (isSearch) {
      // what is looked for is not hidden in a fold
      this._list.update(unfolded(rows));
    } else {
      this._list.update(
        folded(rows, this._opened),
        foldsOf(rows, this._opened)
      );
    }
    // launches of a study are a part of it
    this._tellCount(ownOf(rows).length, ownOf(all).length);
    this._tellEnds(runs.rows);
    this._tellEmpty(rows.length, all.length);
  };

  private _tellCount(shown: number, all: number): void {
    const words =
      shown === all
        ? this._texts._n('%1 run', '%1 runs', all)
        : this._texts.__(
            '%1 of %2',
            format(shown, 'count'),
            format(all, 'count')
          );
    if (this._count.textContent !== words) {
      this._count.textContent = words;
    }
  }

  /**
   * Say what is to be done where no row is shown.
   */
  private _tellEmpty(shown: number, all: number): void {
    const { runs, state } = this._stream;
    const key = `${shown === 0} ${all === 0} ${runs.isReady} ${state}`;
    if (key === this._emptyKey) {
      return;
    }
    this._emptyKey = key;
    this._list.element.hidden = shown === 0;
    this._search.element.hidden = all === 0;
    this._count.hidden = all === 0;
    this._empty.hidden = shown > 0;
    if (all > 0) {
      this._empty.replaceChildren(
        h('p', {}, this._texts.__('No run is like that.')),
        button(this._texts.__('Show all'), this._showAll)
      );
    } else if (runs.isReady) {
      this._empty.replaceChildren(
        h(
          'p',
          {},
          this._texts.__(
            'No runs yet. Start one here, or in a notebook with lab.launch(job). It stays in ' +
              'this list, whatever becomes of the notebook.'
          )
        )
      );
    } else {
      this._empty.replaceChildren(
        state === 'refused' || state === 'cut'
          ? ''
          : h('p', {}, this._texts.__('Reading the runs …'))
      );
    }
  }

  /**
   * Tell a screen reader what has ended since the last time.
   */
  private _tellEnds(rows: readonly IRow[]): void {
    const live = new Set<string>();
    const ended: string[] = [];
    for (const row of rows) {
      if (isLive(row)) {
        live.add(keyOf(row));
      } else if (this._live.has(keyOf(row))) {
        ended.push(`${nameWords(row)}: ${stateWords(row, this._texts)}`);
      }
    }
    this._live = live;
    if (ended.length > 0) {
      this._news.textContent = ended.join('; ');
    }
  }

  private readonly _select = (row: IRow | null): void => {
    this._lab.selected = row;
    for (const { button, canRun, isOffered } of this._actions) {
      button.disabled = !canRun(row);
      button.hidden = !isOffered(row);
    }
  };

  private readonly _showAll = (): void => {
    this._search.clear();
    this._update();
    this.focus();
  };

  private readonly _problem: ProblemBox;
  private readonly _search: SearchBar;
  private readonly _list: RunList;
  private readonly _actions: readonly (IAction & {
    readonly button: HTMLButtonElement;
  })[];
  private readonly _count = h('p', { class: 'smtc-note', role: 'status' });
  private readonly _empty = h('div', { class: 'jp-Smtc-empty' });
  private readonly _news = h('p', { class: 'smtc-sr', role: 'status' });
  private readonly _leaveDrag: () => void;
  private _live: ReadonlySet<string> = new Set();
  private readonly _opened = new Map<string, boolean>();
  private _emptyKey = '';
  private _frame = 0;
}
