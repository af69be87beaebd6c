import { NO_ENVIRONMENTS, XLA, type IEnvironments } from '@smtc-lab/protocol';
import { tell } from '../bounded.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';

/**
 * Says why XLA cannot be used, and has its environment made at a press of a button.
 */
export class XlaBox {
  /**
   * @param make - Have the environment made, and come back at once.
   */
  constructor(make: () => void) {
    this._button = button(t('Make it'), () => {
      this._asked = JSON.stringify(this._making);
      this._status.focus(); // the button goes away
      this._showState();
      make();
    });
    this.element = h(
      'div',
      { class: 'smtc-xla' },
      this._reason,
      this._status,
      h('div', { class: 'smtc-row' }, this._button, this._bar)
    );
  }

  readonly element: HTMLElement;

  /**
   * Show how things stand.
   *
   * @param reason - Why XLA cannot be used; empty: it can, or nobody wants to.
   * @param environments - All that there are, and how far the one of XLA is.
   * @param isWanted - Whether XLA is what compiles.
   */
  show(reason: string, environments: IEnvironments, isWanted: boolean): void {
    this._making = environments.making;
    if (JSON.stringify(this._making) !== this._asked) {
      this._asked = null; // an answer has come
    }
    this._because = reason;
    this._canMake =
      reason !== '' && environments.choices.every(({ name }) => name !== XLA);
    this.element.hidden =
      !isWanted || (reason === '' && this._making.state !== 'done');
    this._showState();
  }

  private _showState(): void {
    const isAsked = this._asked !== null;
    const state = isAsked ? 'making' : this._making.state;
    const words = isAsked ? t('Asking for it …') : this._making.sentence;
    const isOld = state === 'done' && this._canMake; // it was removed again
    const reason = state === 'making' ? '' : this._because; // it asks for what is done
    tell(this._reason, reason);
    this._reason.className = reason === '' ? '' : 'smtc-problem';
    this._bar.hidden = state !== 'making';
    this._button.hidden = state === 'making' || !this._canMake;
    this._status.className = state === 'failed' ? 'smtc-problem' : '';
    tell(this._status, isOld ? '' : words);
  }

  private readonly _reason = h('p', {});
  private readonly _status = h('p', { role: 'status', tabindex: -1 });
  private readonly _bar = h('progress', {
    'aria-label': t('Making the environment')
  });
  private readonly _button: HTMLButtonElement;
  private _making = NO_ENVIRONMENTS.making;
  private _because = '';
  private _canMake = false;

  /**
   * What was known when the button was pressed; null: it was not, or it was answered.
   */
  private _asked: string | null = null;
}
