import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { Cuts } from './cuts.js';
import { foldsOf } from './folds.js';
import type { IFold, Starts } from './moves.js';
import type { Stage } from './stage.js';
import { smallWords, timeWords } from './words.js';

/**
 * Height of a stage whose modules are as long as those of an even cut, in pixels.
 */
const EVEN_HEIGHT = 280;

/**
 * The boxes of all modules, each in the list of its stage; small ones in a box that can be opened.
 * One box of each stage can be reached by Tab, the others from there by arrow keys.
 */
export class Modules {
  constructor(
    private readonly _stages: readonly Stage[],
    private readonly _cuts: Cuts
  ) {
    const { modules } = _cuts.model;
    this._total = modules.reduce((sum, { time }) => sum + time, 0) || 1;
    this._shares = modules.map(({ time }) => time / this._total);
    this._pixels = EVEN_HEIGHT / Math.max(...this._shares, 1 / _stages.length);
    this._boxes = modules.map(({ name }, place) => {
      const element = box({ first: place, last: place });
      this._fill(element, name, name);
      return element;
    });
  }

  /**
   * Put each box into the list of its stage; those that stay are not touched, so that lists stay
   * where they are scrolled to.
   */
  show(starts: Starts): void {
    const focused = document.activeElement;
    this._stages.forEach(({ list }, stage) => {
      const shown = foldsOf(starts, stage, this._shares).flatMap(fold =>
        fold.isSmall ? this._folded(fold) : this._each(fold)
      );
      hold(list, shown);
      number(list, stage);
    });
    if (focused instanceof HTMLElement && focused.dataset['module']) {
      // what moves in the page loses the focus, and what was folded meanwhile is in another box
      const { first } = rangeOf(focused);
      this.focus(
        focused.isConnected ? focused : (this._shownOf(first) ?? focused)
      );
    }
  }

  /**
   * Give a box the focus, and make it the one of its stage that Tab reaches.
   */
  focus(element: Node | null | undefined): void {
    if (!(element instanceof HTMLElement)) {
      return;
    }
    for (const other of element.parentElement?.children ?? []) {
      setReached(other, other === element);
    }
    element.focus();
  }

  /**
   * Show the modules of a box one by one, or in it again.
   *
   * @returns Whether the box has some.
   */
  open(element: HTMLElement): boolean {
    const isFold = element.dataset['last'] !== undefined;
    if (isFold) {
      const own = this._each(rangeOf(element));
      const does = element.hasAttribute('data-open') ? 'delete' : 'add';
      own.forEach(each => this._open[does](each));
    }
    return isFold;
  }

  /**
   * Mark what would be on another stage than before.
   */
  mark(isMoving: (module: number) => boolean): void {
    for (const element of [...this._boxes, ...this._folds.values()]) {
      element.toggleAttribute('data-moving', isMoving(rangeOf(element).first));
    }
  }

  private _shownOf(module: number): HTMLElement | undefined {
    const shown = [...this._folds.values(), ...this._boxes];
    return shown.find(element => {
      const { first, last } = rangeOf(element);
      return element.isConnected && first <= module && module <= last;
    });
  }

  private _folded(fold: IFold): readonly HTMLElement[] {
    const { first, last } = fold;
    const element = this._folds.get(first) ?? box(fold);
    this._folds.set(first, element);
    element.dataset['last'] = String(last);
    const isOpen = this._each(fold).some(each => this._open.has(each));
    element.toggleAttribute('data-open', isOpen);
    const words = nameOf(element);
    this._fill(
      element,
      isOpen ? t('%1, open', words) : t('%1, folded', words),
      `${isOpen ? '▾' : '▸'} ${last - first + 1}`,
      `${t('small')} `
    );
    return isOpen ? [element, ...this._each(fold)] : [element];
  }

  private _each({ first, last }: IFold): readonly HTMLElement[] {
    return this._boxes.slice(first, last + 1);
  }

  private _fill(
    element: HTMLElement,
    name: string,
    shown: string,
    kind = ''
  ): void {
    const { first, last } = rangeOf(element);
    const share = this._shares
      .slice(first, last + 1)
      .reduce((sum, one) => sum + one, 0);
    const words = timeWords(share * this._total, this._cuts.model);
    element.setAttribute('aria-label', t('%1, predicted %2', name, words));
    element.title = `${name}: ${words}`;
    element.style.setProperty(
      '--smtc-time',
      `${(share * this._pixels).toFixed(1)}px`
    );
    element.replaceChildren(
      h('b', {}, h('bdi', {}, shown)),
      h('span', {}, kind, words)
    );
  }

  private readonly _total: number;
  private readonly _shares: readonly number[];
  private readonly _pixels: number;
  private readonly _boxes: readonly HTMLElement[];
  private readonly _folds = new Map<number, HTMLElement>();
  private readonly _open = new Set<HTMLElement>();
}

/**
 * Return the modules of a box.
 */
export function rangeOf({ dataset }: HTMLElement): IFold {
  const first = Number(dataset['module']);
  return { first, last: Number(dataset['last'] ?? first) };
}

/**
 * Return the name of what is in a box.
 */
export function nameOf(element: HTMLElement): string {
  const { first, last } = rangeOf(element);
  return element.dataset['last'] === undefined
    ? (element.querySelector('b')?.textContent ?? '')
    : smallWords(last - first + 1);
}

/**
 * Let a list hold these elements.
 */
function hold(list: HTMLElement, shown: readonly HTMLElement[]): void {
  for (const element of [...list.children]) {
    if (!shown.includes(element as HTMLElement)) {
      element.remove();
    }
  }
  let at = list.firstChild;
  for (const element of shown) {
    if (element === at) {
      at = at.nextSibling;
    } else {
      list.insertBefore(element, at);
    }
  }
}

function number({ children }: HTMLElement, stage: number): void {
  const own = [...children] as HTMLElement[];
  const reached =
    own.find(each => each.tabIndex === 0) ??
    own[stage === 0 ? own.length - 1 : 0];
  own.forEach((element, place) => {
    element.setAttribute('aria-posinset', String(place + 1));
    element.setAttribute('aria-setsize', String(own.length));
    setReached(element, element === reached);
  });
}

function setReached(element: Element, isReached: boolean): void {
  element.setAttribute('tabindex', isReached ? '0' : '-1');
  element.setAttribute('aria-selected', String(isReached));
}

function box({ first }: IFold): HTMLElement {
  return h('div', {
    class: 'smtc-module',
    role: 'option',
    'data-module': first
  });
}
