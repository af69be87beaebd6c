import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { IRow } from '@smtc-lab/protocol';
import { ROW_PX } from '../src/panel/row_view.js';
import { RunList } from '../src/panel/run_list.js';
import { row, TEXTS } from './kit.js';

const HEIGHT_PX = 10 * ROW_PX;

class Observer {
  observe(): void {
    // nothing is laid out here
  }
  disconnect(): void {
    // nothing was begun
  }
}

let selected: IRow | null;
let list: RunList;
const open = vi.fn();
const remove = vi.fn();
const fold = vi.fn();

beforeEach(() => {
  vi.stubGlobal('ResizeObserver', Observer);
  vi.clearAllMocks();
  selected = null;
  list = new RunList({
    texts: TEXTS,
    open,
    remove,
    fold,
    select: row => {
      selected = row;
    }
  });
  Object.defineProperty(list.element, 'clientHeight', { value: HEIGHT_PX });
  document.body.replaceChildren(list.element);
});

function rows(count: number): readonly IRow[] {
  return Array.from({ length: count }, (_, place) =>
    row({ name: `run-${place}` })
  );
}

function press(key: string): void {
  list.element.dispatchEvent(
    new KeyboardEvent('keydown', { key, cancelable: true })
  );
}

function shown(): (string | null)[] {
  return [...list.element.querySelectorAll<HTMLElement>('[role=option]')]
    .filter(({ hidden }) => !hidden)
    .map(element => element.getAttribute('aria-posinset'));
}

describe('a list of 1,000', () => {
  it('has only the rows in sight in the page, wherever it is scrolled to', () => {
    list.update(rows(1000));
    expect(shown().length).toBeLessThan(20);
    list.element.scrollTop = 500 * ROW_PX;
    list.element.dispatchEvent(new Event('scroll'));

    const places = shown().map(Number);
    expect(places.length).toBeLessThan(20);
    expect(new Set(places).size).toBe(places.length);
    for (let place = 501; place <= 510; place++) {
      expect(places).toContain(place);
    }
  });

  it('is walked by keys, and names its active row', () => {
    list.update(rows(1000));
    list.element.focus();
    expect(selected?.name).toBe('run-0');
    press('ArrowDown');
    press('PageDown');
    expect(selected?.name).toBe('run-10');
    press('End');
    expect(selected?.name).toBe('run-999');

    const active = list.element.getAttribute('aria-activedescendant') ?? '';
    expect(document.getElementById(active)?.getAttribute('aria-posinset')).toBe(
      '1000'
    );
    press('Home');
    press('ArrowUp');
    expect(selected?.name).toBe('run-0');
  });
});

describe('a row of the list', () => {
  it('is opened by Enter and is to go by Delete', () => {
    list.update(rows(3));
    list.element.focus();
    press('ArrowDown');
    press('Enter');
    press('Delete');

    expect(open).toHaveBeenCalledWith(
      expect.objectContaining({ name: 'run-1' })
    );
    expect(remove).toHaveBeenCalledWith(
      expect.objectContaining({ name: 'run-1' })
    );
  });

  it('stays selected where it goes when the list changes', () => {
    list.update(rows(3));
    list.element.focus();
    list.update([row({ name: 'newer' }), ...rows(3)]);

    expect(selected?.name).toBe('run-0');
  });

  it('that is gone is not selected any more', () => {
    list.update(rows(3));
    list.element.focus();
    list.update([row({ name: 'other' })]);

    expect(selected).toBeNull();
  });

  it('shows a hostile name as text', () => {
    const name = '<img src=x onerror=alert(1)>';
    list.update([row({ name, cluster: name, reason: name, entryPoint: name })]);

    expect(list.element.querySelector('img')).toBeNull();
    expect(list.element.textContent).toContain(name);
  });
});

describe('a study with launches below it', () => {
  const study = row({ name: 'c', kind: 'comparison' });
  const launch = row({ name: 'c-1', kind: 'run', study: 'c', launch: 'fed' });
  const folds = new Map([['comparison/c', { launches: 1, isOpen: true }]]);

  it('is folded and opened by keys, and Left goes from a launch to it', () => {
    list.update([study, launch], folds);
    press('End');
    press('ArrowLeft');
    expect(selected).toBe(study);
    expect(fold).not.toHaveBeenCalled();

    press('ArrowLeft');
    press('ArrowRight');

    expect(fold.mock.calls).toEqual([
      [study, false],
      [study, true]
    ]);
  });

  it('is folded by its mark, and has the full name of a launch in the tooltip', () => {
    list.update([study, launch], folds);

    list.element
      .querySelector('.jp-Smtc-row-toggle')
      ?.dispatchEvent(new MouseEvent('pointerdown', { bubbles: true }));

    expect(fold).toHaveBeenCalledWith(study, false);
    const titles = [...list.element.querySelectorAll<HTMLElement>('[title]')];
    expect(titles.some(({ title }) => title.startsWith('c-1'))).toBe(true);
    expect(list.element.textContent).not.toContain('c-1');
  });
});
