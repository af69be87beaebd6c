import { objectOf } from '@smtc-lab/protocol';
import { tell } from '../bounded.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel, IRenderContext, IView } from '../model.js';
import { actionBar, COUNT, optionBar, outcome, pager } from './bar.js';
import { ColumnChooser } from './columns.js';
import { besideIn, grid, nothing } from './grid.js';
import { notesForm } from './notes.js';
import {
  keyOf,
  parsePage,
  type IAsked,
  type IPage,
  type ITableRow
} from './page.js';

const TYPING_MS = 120;
const NOTHING: IAsked = {
  where: '',
  sort: '',
  columns: [],
  first: 0,
  launches: []
};

/**
 * The table of runs. Its model answers `asked` with a `page`, and messages with `told`.
 */
export const runTable: IView = {
  initialize: () => null,
  render: context => {
    const view = new RunTableView(context);
    return () => {
      view.dispose();
    };
  }
};

class RunTableView {
  constructor({ model, el }: IRenderContext) {
    this._model = model;
    this._asked = { ...NOTHING, ...(model.get('asked') as object | undefined) };
    this._where.value = this._asked.where;
    this._table.addEventListener('click', this._onPress);
    this._table.addEventListener('keydown', this._onKey);
    el.append(
      h(
        'div',
        { class: 'smtc-runs' },
        h('div', { class: 'smtc-row' }, this._where, this._columns.element),
        this._problem,
        h('div', { class: 'smtc-row' }, this._bar, this._options),
        this._form,
        this._said,
        this._table,
        this._pager
      )
    );
    model.on('change:page', this._draw);
    model.on('change:can', this._draw);
    model.on('change:told', this._tell);
    this._draw();
  }

  dispose(): void {
    clearTimeout(this._typing);
    this._model.off('change:page', this._draw);
    this._model.off('change:can', this._draw);
    this._model.off('change:told', this._tell);
  }

  private readonly _ask = (change: Partial<IAsked>): void => {
    this._asked = { ...this._asked, first: 0, ...change };
    this._model.set('asked', { ...this._asked, count: COUNT });
    this._model.save_changes();
  };

  private readonly _draw = (): void => {
    const json = (this._model.get('page') ?? {}) as Record<string, unknown>;
    const { problem: why } = json;
    const problem = typeof why === 'string' ? why : '';
    this._problem.hidden = problem === '';
    tell(this._problem, problem);
    this._where.setAttribute('aria-invalid', String(problem !== ''));
    if (problem === '' && json['rows'] !== undefined) {
      this._page = parsePage(json);
    }
    const can = this._can;
    for (const element of [this._where, this._columns.element]) {
      element.hidden = !can.has('ask');
    }
    if (this._page === null) {
      this._table.replaceChildren(
        h('p', { role: 'status', class: 'smtc-note' }, t('Reading the runs …'))
      );
      return;
    }
    const now = new Map(this._page.rows.map(row => [keyOf(row), row]));
    for (const key of this._chosen.keys()) {
      const row = now.get(key); // what it is now: it may have ended
      if (row === undefined) {
        this._chosen.delete(key);
      } else {
        this._chosen.set(key, row);
      }
    }
    this._columns.show(this._page.known, this._page.columns);
    this._drawRows(this._page);
  };

  private _drawRows(page: IPage): void {
    const at = (document.activeElement as HTMLElement | null)?.dataset['at'];
    const chosen = new Set(this._chosen.keys());
    const { sort } = this._asked;
    const [scroll] = this._table.children;
    const left = scroll?.scrollLeft ?? 0;
    const state = {
      sort,
      chosen,
      onlyDiffering: this._onlyDiffering,
      can: this._can
    };
    const shown = h('div', { class: 'smtc-scroll' }, grid(page, state));
    this._table.replaceChildren(page.rows.length === 0 ? nothing(page) : shown);
    shown.scrollLeft = left;
    this._drawBar();
    this._pager.replaceChildren(
      ...pager(page, this._can.has('ask'), this._ask)
    );
    if (at !== undefined) {
      this._at(at)?.focus({ preventScroll: true });
    }
  }

  private _drawBar(): void {
    const [rows, can] = [[...this._chosen.values()], this._can];
    const acts = {
      compare: this._compare,
      annotate: this._edit,
      delete: this._delete
    };
    this._bar.replaceChildren(...actionBar(rows, can, acts));
    const toggle = (): void => {
      this._onlyDiffering = !this._onlyDiffering;
      this._draw();
    };
    this._options.replaceChildren(
      ...optionBar(this._onlyDiffering, this._asked, can, toggle, this._ask)
    );
  }

  private readonly _onPress = ({ target }: Event): void => {
    const pressed = (target as Element).closest<HTMLElement>('[data-at]');
    const [, act, what = ''] =
      /^(\w+):(.*)$/s.exec(pressed?.dataset['at'] ?? '') ?? [];
    const { sort, launches } = this._asked;
    const row = this._page?.rows.find(each => keyOf(each) === what);
    if (act === 'sort') {
      this._ask({ sort: sort === what ? `-${what}` : what });
    } else if (act === 'fold') {
      const others = launches.filter(name => name !== what);
      const { first } = this._asked;
      this._ask({
        first,
        launches: others.length < launches.length ? others : [...others, what]
      });
    } else if (act === 'open' && row !== undefined) {
      this._model.send({ type: 'open', name: row.name, kind: row.kind });
    } else if (act === 'choose' && row !== undefined) {
      this._choose([row], !this._chosen.has(what));
    } else if (act === 'all') {
      const rows = this._page?.rows ?? [];
      this._choose(rows, (pressed as HTMLInputElement).checked);
    }
  };

  private _choose(rows: readonly ITableRow[], isChosen: boolean): void {
    for (const row of rows) {
      if (isChosen) {
        this._chosen.set(keyOf(row), row);
      } else {
        this._chosen.delete(keyOf(row));
      }
    }
    this._leaveForm();
    this._draw();
  }

  /**
   * Up and Down go to the row beside; Delete deletes what is chosen.
   */
  private readonly _onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      besideIn(this._table, event.target as HTMLElement, step)?.focus();
      event.preventDefault();
    } else if (event.key === 'Delete') {
      this._bar.querySelector<HTMLElement>('[data-at="do:delete"]')?.click();
      event.preventDefault();
    }
  };

  private readonly _compare = (): void => {
    const names = [...this._chosen.values()].map(({ name }) => name);
    this._model.send({ type: 'compare', names });
  };

  private readonly _delete = (): void => {
    this._model.send({ type: 'delete', rows: this._named() });
  };

  private readonly _edit = (): void => {
    const form = notesForm(
      [...this._chosen.values()],
      said => {
        if (Object.keys(said).length > 0) {
          this._model.send({ type: 'annotate', rows: this._named(), ...said });
        }
        this._leaveForm();
      },
      () => {
        this._leaveForm();
      }
    );
    this._form.replaceChildren(form);
    form.querySelector('input')?.focus();
  };

  private _leaveForm(): void {
    if (this._form.contains(document.activeElement)) {
      this._at('do:annotate')?.focus();
    }
    this._form.replaceChildren();
  }

  private _named(): readonly object[] {
    return [...this._chosen.values()].map(({ name, kind }) => ({ name, kind }));
  }

  private readonly _tell = (): void => {
    const told = objectOf(this._model.get('told') ?? {}, 'What was done');
    const { type } = told;
    const hadFocus = this._said.contains(document.activeElement);
    this._said.replaceChildren(
      ...outcome(told, ids => {
        this._model.send({ type: 'undo', ids });
      })
    );
    // what had the focus is gone
    if (type === 'delete') {
      this._at('do:undo')?.focus();
    } else if (hadFocus) {
      this._at('all:')?.focus();
    }
  };

  private _at(at: string): HTMLElement | null {
    const root = this._table.parentElement;
    const all = root?.querySelectorAll<HTMLElement>('[data-at]') ?? [];
    return [...all].find(each => each.dataset['at'] === at) ?? null;
  }

  private get _can(): ReadonlySet<string> {
    return new Set((this._model.get('can') ?? []) as readonly string[]);
  }

  private readonly _model: IModel;
  private readonly _where = h('input', {
    type: 'search',
    class: 'smtc-where',
    spellcheck: 'false',
    'aria-label': t('Filter runs'),
    title: t('Words, or a condition'),
    placeholder: t('words, or loss < 0.3 and cost_usd < 2'),
    oninput: () => {
      clearTimeout(this._typing);
      this._typing = setTimeout(() => {
        this._ask({ where: this._where.value });
      }, TYPING_MS);
    }
  });
  private readonly _columns = new ColumnChooser(names => {
    const { first } = this._asked;
    this._ask({ first, columns: names });
  });
  private readonly _problem = h('div', {
    class: 'smtc-problem',
    role: 'alert'
  });
  private readonly _bar = h('div', { class: 'smtc-row', role: 'group' });
  private readonly _options = h('div', { class: 'smtc-row' });
  private readonly _form = h('div', {});
  private readonly _said = h('div', { class: 'smtc-row', role: 'status' });
  private readonly _table = h('div', {});
  private readonly _pager = h('div', { class: 'smtc-row' });
  private readonly _chosen = new Map<string, ITableRow>();
  private _asked: IAsked;
  private _page: IPage | null = null;
  private _onlyDiffering = false;
  private _typing: ReturnType<typeof setTimeout> | undefined;
}
