import type { IModel } from '../model.js';
import { FOLLOW_EVENT, type IFollowDetail } from './follow_event.js';

/**
 * Asks for a model in the place of one that is silent.
 */
export class Successor {
  /**
   * @param _el - Where the view is.
   * @param take - Called with the new model.
   */
  constructor(
    private readonly _el: HTMLElement,
    private readonly _view: string,
    take: (model: IModel) => void
  ) {
    this._take = model => {
      this._isTaken = true;
      take(model);
    };
  }

  /**
   * Ask, unless it was asked before and may be answered yet.
   */
  ask(name: string): void {
    if (this._end === null) {
      const detail: IFollowDetail = {
        view: this._view,
        name,
        begun: end => {
          this._end = end;
        },
        take: this._take,
        fail: () => {
          this._end = null;
        }
      };
      this._el.dispatchEvent(
        new CustomEvent<IFollowDetail>(FOLLOW_EVENT, {
          bubbles: true,
          composed: true,
          detail
        })
      );
    }
  }

  /**
   * Ask no longer: the first model has told news. What was taken stays.
   */
  forget(): void {
    if (!this._isTaken) {
      this.dispose();
    }
  }

  /**
   * Let go of the new model. Safe to call twice.
   */
  dispose(): void {
    this._end?.();
    this._end = null;
  }

  private readonly _take: (model: IModel) => void;
  private _isTaken = false;
  private _end: (() => void) | null = null;
}
