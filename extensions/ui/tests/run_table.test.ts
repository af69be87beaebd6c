import { beforeEach, describe, expect, it, vi } from 'vitest';
import { runTable } from '../src/run_table/view.js';
import { staticResult } from '../src/static_model.js';
import { buttonIn, FakeModel } from './fake_model.js';

const KNOWN = [
  { name: 'name', title: 'run', kind: 'text' },
  { name: 'cost_usd', title: 'cost', kind: 'usd' },
  { name: 'param.lr', title: 'lr', kind: 'number' }
];
const CAN = ['ask', 'unfold', 'open', 'compare', 'delete', 'annotate'];

function row(name: string, cost: number | null, more: object = {}): object {
  return {
    ...{ name, kind: 'run', state: 'Completed', title: '', tags: '' },
    ...{ note: '', launch: '', depth: 0, is_open: false, reason: '' },
    cells: [name, cost, 0.1],
    ...more
  };
}

function page(...rows: readonly object[]): Record<string, unknown> {
  const columns = KNOWN.map(({ name }) => name);
  const found = rows.length;
  return {
    ...{ total: 3, found, first: 0, root: '/r', columns, known: KNOWN, rows },
    differing: ['name', 'cost_usd']
  };
}

const ROWS = [row('a', 2), row('b', null), row('c', 1, { title: 'best' })];

function shown(values: object): { model: FakeModel; el: HTMLElement } {
  const model = new FakeModel({ can: CAN, ...values });
  const el = document.createElement('div');
  document.body.replaceChildren(el);
  runTable.render({ model, el, state: runTable.initialize(model) });
  return { model, el };
}

function names(el: HTMLElement): string[] {
  return [...el.querySelectorAll('tbody th')].map(cell =>
    cell.textContent.trim()
  );
}

function at(el: HTMLElement, place: string): HTMLElement {
  return el.querySelector(`[data-at="${place}"]`) as HTMLElement;
}

describe('the table of runs', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it('writes values with their units, and a title before the name', () => {
    const { el } = shown({ page: page(...ROWS) });

    expect(names(el)).toEqual(['a', 'b', 'best c']);
    const cells = [...el.querySelectorAll('tbody td.smtc-number')];
    expect(cells.slice(0, 4).map(cell => cell.textContent)).toEqual([
      ...['$2.00', '0.1', '—', '0.1']
    ]);
  });

  it('asks for another order by the head of a column, and says it', () => {
    const { model, el } = shown({ page: page(...ROWS) });

    at(el, 'sort:cost_usd').click();
    at(el, 'sort:cost_usd').click();

    expect(model.get('asked')).toMatchObject({ sort: '-cost_usd', first: 0 });
    model.set('page', page(...ROWS));
    expect(at(el, 'sort:cost_usd').parentElement?.ariaSort).toBe('descending');
  });

  it('sends what is typed once, and tells a refusal beside it', () => {
    const { model, el } = shown({ page: page(...ROWS) });
    const where = el.querySelector('.smtc-where') as HTMLInputElement;
    for (const text of ['los', 'los < 1']) {
      where.value = text;
      where.dispatchEvent(new Event('input'));
    }
    vi.runAllTimers();
    expect(model.saved.map(({ asked }) => asked)).toMatchObject([
      { where: 'los < 1' }
    ]);

    model.set('page', { problem: 'No run has <b>los</b>.' });

    expect(el.querySelector('[role="alert"]')?.textContent).toBe(
      'No run has <b>los</b>.'
    );
    expect(names(el)).toHaveLength(3);
  });

  it('compares, deletes and undoes what is chosen', () => {
    const { model, el } = shown({ page: page(...ROWS) });
    expect(buttonIn(el, 'Delete').disabled).toBe(true);
    at(el, 'choose:run/a').click();
    expect(buttonIn(el, 'Compare').disabled).toBe(true);
    at(el, 'choose:run/c').click();

    buttonIn(el, 'Compare').click();
    buttonIn(el, 'Delete').click();
    model.set('page', page(row('b', null)));
    model.set('told', { type: 'delete', done: 2, problem: '', undo: ['1'] });
    buttonIn(el, 'Undo').click();

    expect(model.sent).toEqual([
      { type: 'compare', names: ['a', 'c'] },
      {
        type: 'delete',
        rows: [
          { name: 'a', kind: 'run' },
          { name: 'c', kind: 'run' }
        ]
      },
      { type: 'undo', ids: ['1'] }
    ]);
    expect(buttonIn(el, 'Delete').disabled).toBe(true);
  });

  it('keeps what goes on from being deleted', () => {
    const live = row('a', 2, { state: 'InProgress' });
    const { el } = shown({ page: page(live) });

    at(el, 'choose:run/a').click();

    expect(buttonIn(el, 'Delete').disabled).toBe(true);
  });

  it('moves by arrows and keeps the focus when rows come anew', () => {
    const { model, el } = shown({ page: page(...ROWS) });
    at(el, 'choose:run/a').focus();
    const down = { key: 'ArrowDown', bubbles: true };
    at(el, 'choose:run/a').dispatchEvent(new KeyboardEvent('keydown', down));

    model.set('page', page(...[...ROWS].reverse()));

    expect(document.activeElement).toBe(at(el, 'choose:run/b'));
  });

  it('hides columns that are equal in all rows, and those not chosen', () => {
    const { model, el } = shown({ page: page(...ROWS) });

    buttonIn(el, 'Only what differs').click();
    expect(at(el, 'sort:param.lr')).toBeNull();
    const box = el.querySelector('input[value="cost_usd"]') as HTMLElement;
    box.click();

    expect(model.get('asked')).toMatchObject({ columns: ['name', 'param.lr'] });
  });

  it('says only what was changed of the notes of several runs', () => {
    const { model, el } = shown({ page: page(...ROWS) });
    at(el, 'all:').click();
    buttonIn(el, 'Tags and note').click();
    const form = el.querySelector('form') as HTMLFormElement;
    expect(form.querySelector('[name="title"]')).toBeNull();
    (form.querySelector('[name="tags"]') as HTMLInputElement).value = 'x, y,';

    form.dispatchEvent(new Event('submit', { cancelable: true }));

    expect(model.sent[0]).toMatchObject({ type: 'annotate', tags: ['x', 'y'] });
    expect(Object.keys(model.sent[0] as object)).not.toContain('note');
  });

  it('sorts a saved page by itself, with unknown values last', () => {
    const { model } = staticResult({ version: 1, page: page(...ROWS) });
    const el = document.createElement('div');
    runTable.render({ model, el, state: null });

    at(el, 'sort:cost_usd').click();
    expect(names(el)).toEqual(['best c', 'a', 'b']);
    at(el, 'sort:cost_usd').click();
    expect(names(el)).toEqual(['a', 'best c', 'b']);
  });

  it('says where there are no runs', () => {
    const { el } = shown({ page: { ...page(), total: 0 } });

    expect(el.textContent).toContain('There are no runs in /r yet.');
  });
});
