import { tell } from '../bounded.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';

const LONG_MS = 4000;

/**
 * Where a run stands whose instances can be taken away.
 */
export interface IInterruptible {
  /**
   * Starts of its instances so far.
   */
  readonly attempts: number;

  /**
   * Whether there is nothing to take: it waits for instances, or ends.
   */
  readonly isOff: boolean;
}

/**
 * Takes the instances of a run away, as a spot market does, and says what becomes of it. The run goes
 * on by itself, so nobody is asked. Keeps the focus while it cannot be pressed.
 */
export class InterruptButton {
  readonly element: HTMLElement;

  /**
   * @param request - Ask for the interruption.
   */
  constructor(request: () => void) {
    this._button = button(t('Interrupt now'), () => {
      if (this._button.ariaDisabled !== 'true') {
        this._problem = '';
        this._askedMs = performance.now();
        this._askedOf = this._standing;
        this.update(this._run);
        request();
      }
    });
    this.element = h(
      'span',
      { class: 'smtc-interrupt' },
      this._button,
      this._said
    );
  }

  /**
   * Show whether there are instances to take away.
   *
   * @param run - Null: they cannot be taken from here.
   */
  update(run: IInterruptible | null): void {
    this._run = run;
    this.element.hidden = run === null;
    const isAsked = this._askedOf === this._standing;
    this._button.ariaDisabled = String(isAsked || run?.isOff);
    const isLong = performance.now() - this._askedMs >= LONG_MS;
    const words = isLong
      ? t(
          'Interrupting … That takes the notice and the grace, and in a notebook a running cell holds it up.'
        )
      : t('Interrupting …');
    tell(this._said, isAsked ? words : this._problem);
  }

  /**
   * Say that it could not be interrupted, and let the user ask again; empty: it could so far.
   */
  fail(problem: string): void {
    if (problem !== '') {
      this._askedOf = '';
      this._problem = problem;
      this.update(this._run);
    }
  }

  /**
   * What is another one once the interruption that was asked for has come.
   */
  private get _standing(): string {
    return JSON.stringify(this._run);
  }

  private readonly _said = h('span', { role: 'status', class: 'smtc-note' });
  private readonly _button: HTMLButtonElement;
  private _run: IInterruptible | null = null;
  private _askedOf = '';
  private _askedMs = 0;
  private _problem = '';
}
