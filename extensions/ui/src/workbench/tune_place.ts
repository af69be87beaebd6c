import { h } from '../dom.js';
import { t } from '../i18n.js';
import { fillWhenOpened } from '../load_part.js';
import type { IModel } from '../model.js';
import type { ITuneQuestion, TuneBox } from '../tuning/tune_box.js';

/**
 * The place of the form of a search: what fills it is loaded when it is unfolded.
 */
export class TunePlace {
  /**
   * @param onTune - Called with what is asked.
   */
  constructor(model: IModel, onTune: (question: ITuneQuestion) => void) {
    const host = h('div', {});
    this.element = h(
      'details',
      {},
      h('summary', {}, t('Which hyperparameters train best?')),
      host
    );
    fillWhenOpened(host, model, 'tuning-part', module => {
      const part = module as { TuneBox: typeof TuneBox };
      this._box = new part.TuneBox(onTune);
      this._box.allow(this._isAllowed);
      host.append(this._box.element);
    });
  }

  readonly element: HTMLElement;

  /**
   * Take note whether anything can be started now.
   */
  allow(isAllowed: boolean): void {
    this._isAllowed = isAllowed;
    this._box?.allow(isAllowed);
  }

  private _box: TuneBox | undefined;
  private _isAllowed = true;
}
