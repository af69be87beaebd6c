import type { IBeatInfo } from '@smtc-lab/protocol';
import { tell } from '../bounded.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { patch } from '../patch.js';
import type { Feed } from '../live/feed.js';
import { factNodes } from './facts.js';
import { InterruptButton } from './interrupt_button.js';
import type { IKind, IStanding } from './kind.js';
import { openerOf } from './openers.js';
import type { IPart } from './part.js';
import { StopButton } from './stop_button.js';
import { duration, stateWord } from './words.js';

const SILENT_MS = 6_000;
const SPEECH_MS = 10_000;
const TICK_MS = 1_000;

/**
 * Name, state, progress and Stop button; says when no news comes.
 */
export class Header<T extends IStanding> implements IPart<T> {
  readonly element: HTMLElement;

  /**
   * Where the user is asked whether to stop it.
   */
  readonly stop: StopButton;
  readonly interrupt: InterruptButton;

  /**
   * @param ask - Ask for the end, or for an interruption.
   * @param _listen - Called each second while no news has come for long, and when there are news again.
   */
  constructor(
    private readonly _kind: IKind<T>,
    private readonly _feed: Feed,
    ask: (what: 'stop' | 'interrupt') => void,
    private readonly _listen: (isSilent: boolean, name: string) => void
  ) {
    this.stop = new StopButton(t(_kind.what), () => {
      ask('stop');
    });
    this.interrupt = new InterruptButton(() => {
      ask('interrupt');
    });
    this.element = h(
      'header',
      { class: 'smtc-monitor-head' },
      h(
        'div',
        { class: 'smtc-monitor-title' },
        this._name,
        this._state,
        h(
          'span',
          { class: 'smtc-monitor-actions' },
          this.interrupt.element,
          this.stop.element
        )
      ),
      this._spoken,
      h('div', { class: 'smtc-monitor-progress' }, this._bar, this._count),
      this._facts,
      this._reason,
      this._problem,
      this._news
    );
    this._timer = setInterval(() => {
      this._tick();
    }, TICK_MS);
  }

  update(info: T): void {
    this._info = info;
    this._hear(info.elapsedS);
    this._reason.className =
      info.state === 'Failed' ? 'smtc-problem' : 'smtc-note';
    this._tick();
    this._speak(info);
  }

  /**
   * Take a sign of life.
   */
  beat(beat: IBeatInfo): void {
    this._hear(beat.elapsedS ?? this._elapsedS);
    this._tick();
  }

  dispose(): void {
    clearInterval(this._timer);
    clearTimeout(this._speech);
  }

  private _hear(elapsedS: number | null): void {
    this._elapsedS = elapsedS;
    this._heardMs = performance.now();
  }

  private _tick(): void {
    const info = this._info;
    if (info === null) {
      return;
    }
    const silentMs = info.ended ? 0 : performance.now() - this._heardMs;
    const isSilent = silentMs >= SILENT_MS;
    // what nobody tells may have ended: it costs no more than is known
    const elapsedS =
      this._elapsedS === null
        ? null
        : this._elapsedS + (isSilent ? 0 : silentMs / 1000);
    const told = this._kind.describe(info, elapsedS, this._feed);
    say(this._name, told.name);
    const word = stateWord(info.state, info.secondary);
    say(this._state, isSilent ? t('Unknown') : t(word));
    const look = isSilent ? 'unknown' : word.toLowerCase();
    this._state.className = `smtc-badge smtc-state-${look}`;
    say(this._count, told.progress);
    this._bar.hidden = told.done === null;
    this._bar.value = told.done ?? 0;
    this._bar.setAttribute('aria-valuetext', told.progress);
    patch(this._facts, factNodes(told.facts ?? []));
    say(this._reason, told.reason);
    say(this._problem, told.problem ?? '');
    const news = isSilent
      ? t(
          'No news for %1: the kernel or the server is busy in a way that lets nothing through, was restarted, or is gone. Whether it goes on is not known here, and the rest is what was known then. %2 shows it again.',
          duration(silentMs / 1000),
          `${openerOf(this._kind.kind)[1]}.open(${JSON.stringify(told.name)})`
        )
      : '';
    say(this._news, news);
    const isStopping = info.state === 'Stopping';
    this.stop.update(!info.ended && !isStopping, isStopping);
    const isOver = info.ended || isSilent;
    this.stop.element.hidden = isOver;
    this.interrupt.update(isOver ? null : (told.interruptible ?? null));
    const isTurn = isSilent !== this._isSilent;
    this._isSilent = isSilent;
    if (isTurn) {
      this._turn(info, news);
    }
    if (isTurn || isSilent) {
      this._listen(isSilent, told.name);
    }
  }

  /**
   * Show and speak that no news comes, or that it comes again.
   *
   * @param news - That there are none; empty: there are.
   */
  private _turn(info: T, news: string): void {
    const isSilent = news !== '';
    this.element.parentElement?.classList.toggle('smtc-stale', isSilent);
    if (isSilent) {
      // once: the seconds that are shown would be spoken each second
      clearTimeout(this._speech);
      this._said = news;
      this._spoken.textContent = news;
    } else {
      this._speak(info);
    }
  }

  private _speak(info: T): void {
    clearTimeout(this._speech);
    const words = this._kind.describe(info, info.elapsedS, this._feed).spoken;
    if (words === this._said) {
      return;
    }
    const waitMs = info.ended
      ? 0
      : Math.max(0, this._saidMs + SPEECH_MS - performance.now());
    this._speech = setTimeout(() => {
      this._said = words;
      this._saidMs = performance.now();
      this._spoken.textContent = words;
    }, waitMs);
  }

  private readonly _name = h('h3', {});
  private readonly _state = h('span', { class: 'smtc-badge' });
  private readonly _spoken = h('p', { role: 'status', class: 'smtc-sr' });
  private readonly _bar = h('progress', {
    max: 1,
    'aria-label': t('Progress')
  });
  private readonly _count = h('span', { class: 'smtc-number' });
  private readonly _facts = h('dl', { class: 'smtc-facts' });
  private readonly _reason = h('p', {});
  private readonly _problem = h('p', { class: 'smtc-problem', role: 'alert' });
  private readonly _news = h('p', { class: 'smtc-warning' });
  private readonly _timer: ReturnType<typeof setInterval>;
  private _speech: ReturnType<typeof setTimeout> | undefined;
  private _info: T | null = null;
  private _elapsedS: number | null = null;
  private _heardMs = 0;
  private _isSilent = false;
  private _said = '';
  private _saidMs = -SPEECH_MS;
}

/**
 * Write a text where it is another one, and hide the element when there is none.
 */
function say(element: HTMLElement, text: string): void {
  tell(element, text);
  element.hidden = text === '';
}
