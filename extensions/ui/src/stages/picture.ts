import { codeBox } from '../forms/code_box.js';
import { button, h, newId } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel, IView } from '../model.js';
import { Cuts } from './cuts.js';
import { letDrag } from './drag.js';
import { letMoveByKeys } from './keys.js';
import { Modules, nameOf, rangeOf } from './modules.js';
import {
  isSameCut,
  movedFold,
  numMoved,
  stageOf,
  type Starts
} from './moves.js';
import { Stage } from './stage.js';
import { Summary } from './summary.js';
import { WayBack } from './way_back.js';
import { answerWords, hintWords, timeWords } from './words.js';

/**
 * A planned pipeline, whose modules can be moved from stage to stage.
 *
 * Reads `model` and `cut` from its model. Sends `{ type: 'cut', starts }`, which Python answers
 * with another `cut`.
 */
export const pipelinePicture: IView = {
  initialize: (model: IModel): Cuts => new Cuts(model),
  render({ el, state }): () => void {
    const picture = new Picture(el, state as Cuts);
    return () => {
      picture.dispose();
    };
  }
};

const NOBODY = { name: '', count: 1 };

class Picture {
  constructor(
    host: HTMLElement,
    private readonly _cuts: Cuts
  ) {
    const hint = newId();
    this._answered = _cuts.told.answer;
    this._seen = _cuts.told.starts;
    this._stages = _cuts.told.stages.map((_, place) => new Stage(place, hint));
    this._modules = new Modules(this._stages, _cuts);
    this._columns.append(...this._stages.map(({ element }) => element));
    this.element.append(
      this._summary.element,
      h(
        'div',
        { class: 'smtc-row', role: 'group', 'aria-label': t('History') },
        this._undo,
        this._redo,
        this._best
      ),
      this._problem,
      h('p', { class: 'smtc-note', id: hint }, hintWords()),
      this._columns,
      this._said
    );
    host.append(this.element);
    this._code = codeBox(this.element, { code: '' });
    this._leave = _cuts.onChange(() => {
      this._show();
    });
    this._letMove();
    this._show();
  }

  readonly element = h('section', {
    class: 'smtc-cut',
    'aria-label': t('Stages of the model, predicted')
  });

  dispose(): void {
    this._leave();
    this.element.remove();
  }

  private _letMove(): void {
    letDrag(this._columns, {
      begin: box => {
        this._modules.focus(box);
        this._from = { ...this._cuts.here, box };
      },
      over: by => {
        this._dragOver(by);
      },
      end: isDropped => {
        this._endDrag(isDropped);
      },
      open: box => {
        this._open(box);
      }
    });
    letMoveByKeys(this._columns, {
      focus: (box, by) => {
        const beside = by < 0 ? box.previousSibling : box.nextSibling;
        this._modules.focus(beside);
      },
      focusEnd: (box, isLast) => {
        const list = box.parentElement;
        this._modules.focus(isLast ? list?.lastChild : list?.firstChild);
      },
      move: (box, by) => {
        this._move(box, by);
      },
      open: box => {
        this._open(box);
      },
      undo: () => {
        this._cuts.undo();
      },
      redo: () => {
        this._cuts.redo();
      }
    });
  }

  private _open(box: HTMLElement): void {
    if (this._modules.open(box)) {
      this._modules.show(this._cuts.wanted);
    }
  }

  /**
   * Move a box to the stage beside its own, or back to where it was.
   */
  private _move(box: HTMLElement, by: -1 | 1): void {
    const { wanted } = this._cuts;
    const fold = rangeOf(box);
    const starts = this._wayBack.moved(wanted, fold, by, this._count);
    if (starts === null) {
      this._refuse(fold.first, by, wanted);
    } else {
      this._name(box);
      this._cuts.want(starts);
    }
  }

  private _name(box: HTMLElement): void {
    const { first, last } = rangeOf(box);
    this._named = { name: nameOf(box), count: last - first + 1 };
  }

  private _dragOver(by: -1 | 0 | 1): void {
    const from = this._from;
    if (from === null) {
      return;
    }
    const starts =
      by === 0
        ? from.starts
        : movedFold(from.starts, rangeOf(from.box), by, this._count);
    this._name(from.box);
    if (starts === null && by !== 0) {
      this._refuse(rangeOf(from.box).first, by, from.starts);
    } else if (starts !== null) {
      this._modules.mark(
        module => stageOf(starts, module) !== stageOf(from.starts, module)
      );
      this._cuts.look(starts, from.step);
    }
  }

  private _endDrag(isDropped: boolean): void {
    const from = this._from;
    this._from = null;
    this._modules.mark(() => false);
    if (from !== null) {
      if (isDropped) {
        this._cuts.want(this._cuts.wanted, from);
      } else {
        this._cuts.look(from.starts, from.step);
      }
    }
  }

  /**
   * Say why a module cannot be moved.
   */
  private _refuse(module: number, by: -1 | 1, starts: Starts): void {
    const stage = stageOf(starts, module);
    const isOutside = stage + by < 0 || stage + by >= starts.length;
    this._say(
      isOutside
        ? by < 0
          ? t('Stage %1 is the first one.', stage)
          : t('Stage %1 is the last one.', stage)
        : t('Stage %1 would have no module left: each needs one.', stage)
    );
  }

  private _show(): void {
    const cuts = this._cuts;
    const { told, model, wanted } = cuts;
    const slowest = Math.max(...told.stages.map(each => each.time));
    const fullest = Math.max(...told.stages.map(each => each.heldBytes));
    this._modules.show(wanted);
    this._summary.show(cuts);
    this._stages.forEach((stage, place) => {
      stage.show(
        told.stages[place] as (typeof told.stages)[number],
        slowest,
        fullest,
        model
      );
    });
    this._columns.toggleAttribute('data-waiting', cuts.isWaiting);
    this._allow(this._undo, cuts.canUndo);
    this._allow(this._redo, cuts.canRedo);
    const { bestStarts } = model;
    this._allow(
      this._best,
      bestStarts !== null && !isSameCut(bestStarts, wanted)
    );
    this._code.update({ code: told.code });
    if (!cuts.isWaiting) {
      this._answer();
    }
  }

  /**
   * Say what Python answered, once.
   */
  private _answer(): void {
    const { told, model } = this._cuts;
    if (told.answer === this._answered) {
      return;
    }
    this._answered = told.answer;
    this._say(told.refused);
    if (told.refused === '') {
      const { name, count } = this._named;
      const others = numMoved(this._seen, told.starts) - count;
      this._said.textContent = answerWords(
        others < 0 ? '' : name,
        others,
        timeWords(told.step, model)
      );
    }
    this._seen = told.starts;
    this._named = NOBODY;
  }

  private _say(problem: string): void {
    this._problem.hidden = problem === '';
    this._problem.replaceChildren(problem === '' ? '' : h('span', {}, problem));
  }

  private _allow(element: HTMLButtonElement, isAllowed: boolean): void {
    // a disabled button would lose the focus
    element.setAttribute('aria-disabled', String(!isAllowed));
  }

  private get _count(): number {
    return this._cuts.model.modules.length;
  }

  private readonly _summary = new Summary();
  private readonly _stages: readonly Stage[];
  private readonly _modules: Modules;
  private readonly _columns = h('div', { class: 'smtc-stages-row' });
  private readonly _problem = h('p', {
    class: 'smtc-problem',
    role: 'alert',
    hidden: true
  });
  private readonly _said = h('p', { class: 'smtc-sr', role: 'status' });
  private readonly _undo = button(t('Undo'), () => {
    this._cuts.undo();
  });
  private readonly _redo = button(t('Redo'), () => {
    this._cuts.redo();
  });
  private readonly _best = button(t('Best cut'), () => {
    const { bestStarts } = this._cuts.model;
    if (bestStarts !== null) {
      this._cuts.want(bestStarts);
    }
  });
  private readonly _code: ReturnType<typeof codeBox>;
  private readonly _leave: () => void;
  private _from: {
    readonly starts: Starts;
    readonly step: number;
    readonly box: HTMLElement;
  } | null = null;
  private _named = NOBODY;
  private readonly _wayBack = new WayBack();
  private _seen: Starts;
  private _answered: number;
}
