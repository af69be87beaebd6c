import {
  readOnce,
  readWire,
  type IPlannedCutInfo,
  type IPlannedModelInfo
} from '@smtc-lab/protocol';
import type { IModel } from '../model.js';
import { isSameCut, type Starts } from './moves.js';

const readCut = readOnce(json => readWire('PlannedCutInfo', json));
const readModel = readOnce(json => readWire('PlannedModelInfo', json));

/**
 * The cut that is wanted, the one that Python told of, and how to go back. Belongs to a model, so
 * that all places that show it have one history.
 *
 * One cut is asked for at a time: what is wanted meanwhile is asked for afterwards.
 */
export class Cuts {
  constructor(private readonly _model: IModel) {
    this.wanted = this.told.starts;
    _model.on('change:cut', () => {
      this._onAnswer();
    });
  }

  /**
   * Where its user wants the model to be cut.
   */
  wanted: Starts;

  /**
   * Predicted step before the last change; null: nothing was changed.
   */
  before: number | null = null;

  /**
   * What Python told of last.
   */
  get told(): IPlannedCutInfo {
    return readCut(this._model.get('cut'));
  }

  /**
   * What stays the same wherever it is cut.
   */
  get model(): IPlannedModelInfo {
    return readModel(this._model.get('model'));
  }

  /**
   * Whether an answer is still to come.
   */
  get isWaiting(): boolean {
    return this._asked !== null;
  }

  get canUndo(): boolean {
    return this._undo.length > 0;
  }

  get canRedo(): boolean {
    return this._redo.length > 0;
  }

  /**
   * Call back after each change of what is wanted, and after each answer.
   *
   * @returns What to call to stop it.
   */
  onChange(callback: () => void): () => void {
    this._callbacks.add(callback);
    return () => {
      this._callbacks.delete(callback);
    };
  }

  /**
   * Want another cut, without a way back to the one before: a module is still being dragged.
   *
   * @param before - Predicted step where it was taken up.
   */
  look(starts: Starts, before: number): void {
    if (!isSameCut(starts, this.wanted)) {
      this.before = before;
      this._go(starts);
    }
  }

  /**
   * Want another cut.
   *
   * @param from - Where undoing leads back to, and the predicted step there.
   */
  want(starts: Starts, from = this.here): void {
    if (!isSameCut(starts, from.starts)) {
      this._undo.push(from.starts);
      this._redo.length = 0;
      this.before = from.step;
      this._go(starts);
    }
  }

  /**
   * What is wanted now, and the predicted step that is shown with it.
   */
  get here(): { readonly starts: Starts; readonly step: number } {
    return { starts: this.wanted, step: this.told.step };
  }

  undo(): void {
    this._step(this._undo, this._redo);
  }

  redo(): void {
    this._step(this._redo, this._undo);
  }

  private _step(from: Starts[], to: Starts[]): void {
    const starts = from.pop();
    if (starts !== undefined) {
      to.push(this.wanted);
      this.before = this.told.step;
      this._go(starts);
    }
  }

  private _go(starts: Starts): void {
    this.wanted = starts;
    this._ask();
    this._tell();
  }

  private _ask(): void {
    if (this._asked === null && !isSameCut(this.wanted, this.told.starts)) {
      this._asked = this.wanted;
      this._model.send({ type: 'cut', starts: this.wanted });
    }
  }

  private _onAnswer(): void {
    const asked = this._asked;
    this._asked = null;
    const isNewest = asked === null || isSameCut(asked, this.wanted);
    if (asked !== null && this.told.refused !== '') {
      this._forget(asked, isNewest);
    }
    if (isNewest) {
      this.wanted = this.told.starts;
    }
    this._ask();
    this._tell();
  }

  /**
   * Let nothing lead to a cut that was refused, nor to where one is.
   */
  private _forget(refused: Starts, isNewest: boolean): void {
    this._undo = this._undo.filter(one => !isSameCut(one, refused));
    const last = this._undo.at(-1);
    if (isNewest && last !== undefined && isSameCut(last, this.told.starts)) {
      this._undo.pop();
      this.before = null;
    }
  }

  private _tell(): void {
    for (const callback of [...this._callbacks]) {
      callback();
    }
  }

  private _asked: Starts | null = null;
  private _undo: Starts[] = [];
  private readonly _redo: Starts[] = [];
  private readonly _callbacks = new Set<() => void>();
}
