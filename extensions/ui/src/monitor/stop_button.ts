import { tell } from '../bounded.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';

const UNTAKEN_MS = 4000;

export interface IAsking {
  readonly isAsking: boolean;
  readonly hasFocus: boolean;
}

/**
 * A Stop button that asks once more, in its own place, and says what becomes of it.
 */
export class StopButton {
  readonly element: HTMLElement;

  /**
   * @param what - What is stopped, for the question: "the run".
   * @param stop - Ask for the stop.
   */
  constructor(
    what: string,
    private readonly _request: () => void
  ) {
    const question = t('Stop %1?', what);
    this._stop = button(t('Stop'), this._ask);
    this._yes = button(t('Stop it'), this._confirm, {
      class: 'smtc-stop-yes'
    });
    this._question = h(
      'span',
      {
        class: 'smtc-stop-question',
        role: 'group',
        'aria-label': question,
        onkeydown: (event: KeyboardEvent) => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            this._leave();
          }
        }
      },
      h('span', {}, question),
      this._yes,
      button(t('Keep it running'), this._leave)
    );
    this.element = h('span', { class: 'smtc-stop' }, this._stop, this._said);
  }

  /**
   * Show whether there is something to stop, and what became of the stop.
   *
   * @param canStop - It runs, and is not on its way to its end.
   * @param isStopping - It is on its way to its end.
   */
  update(canStop: boolean, isStopping: boolean): void {
    this._canStop = canStop;
    this._isStopping = isStopping;
    if (!canStop) {
      this._askedMs = null;
      this._problem = '';
      this._leave();
    }
    this._stop.disabled = !canStop || this._askedMs !== null;
    tell(this._said, this._words());
  }

  /**
   * Whether it asks now, and has the focus.
   */
  get asking(): IAsking {
    return {
      isAsking: this._question.isConnected,
      hasFocus: this._question.contains(document.activeElement)
    };
  }

  /**
   * Ask where another one asked, whose place this one takes.
   */
  askOn({ isAsking, hasFocus }: IAsking): void {
    if (isAsking && this._canStop) {
      this._stop.replaceWith(this._question);
      if (hasFocus) {
        this._yes.focus();
      }
    }
  }

  /**
   * Say that it could not be stopped, and let the user ask again.
   */
  fail(problem: string): void {
    this._askedMs = null;
    this._problem = problem;
    this.update(this._canStop, this._isStopping);
  }

  private _words(): string {
    if (this._isStopping) {
      return t('Stopping …');
    }
    if (this._askedMs === null) {
      return this._problem;
    }
    return performance.now() - this._askedMs < UNTAKEN_MS
      ? t('Stopping …')
      : t(
          'The stop was not taken yet. In a notebook, a running cell holds it up: interrupt it, or wait.'
        );
  }

  private readonly _ask = (): void => {
    this.askOn({ isAsking: true, hasFocus: true });
  };

  private readonly _leave = (): void => {
    if (this._question.isConnected) {
      const hadFocus = this._question.contains(document.activeElement);
      this._question.replaceWith(this._stop);
      if (hadFocus) {
        this._stop.focus();
      }
    }
  };

  private readonly _confirm = (): void => {
    this._askedMs = performance.now();
    this._problem = '';
    this._leave();
    this.update(this._canStop, this._isStopping);
    this._request();
  };

  private readonly _said = h('span', { role: 'status', class: 'smtc-note' });
  private readonly _stop: HTMLButtonElement;
  private readonly _yes: HTMLButtonElement;
  private readonly _question: HTMLElement;
  private _askedMs: number | null = null;
  private _canStop = false;
  private _isStopping = false;
  private _problem = '';
}
