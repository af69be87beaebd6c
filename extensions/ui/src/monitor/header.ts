import type { IBeatInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { Feed } from '../live/feed.js';
import { factNodes } from './facts.js';
import type { IKind, IStanding } from './kind.js';
import { openerOf } from './openers.js';
import { patch, type IPart } from './part.js';
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
   * @param stop - Ask for the end.
   * @param _listen - Called each second while no news has come for long, and when there are news again.
   */
  constructor(
    private readonly _kind: IKind<T>,
    private readonly _feed: Feed,
    stop: () => void,
    private readonly _listen: (isSilent: boolean, name: string) => void
  ) {
    this._stop = new StopButton(t(_kind.what), stop);
    this.element = h(
      'header',
      { class: 'smtc-monitor-head' },
      h(
        'div',
        { class: 'smtc-monitor-title' },
        this._name,
        this._state,
        this._stop.element
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

  /**
   * Where the user is asked whether to stop it.
   */
  get stop(): StopButton {
    return this._stop;
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
    say(this._state, isSilent ? t('Unknown') : t(stateWord(info.state)));
    const look = isSilent ? 'unknown' : info.state.toLowerCase();
    this._state.className = `smtc-badge smtc-state-${look}`;
    say(this._count, told.progress);
    this._bar.hidden = told.done === null;
    this._bar.value = told.done ?? 0;
    this._bar.setAttribute('aria-valuetext', told.progress);
    patch(this._facts, factNodes(told.facts ?? []));
    say(this._reason, told.reason);
    say(this._problem, told.problem ?? '');
    say(
      this._news,
      isSilent
        ? t(
            'No news for %1: the kernel or the server is busy in a way that lets nothing through, was restarted, or is gone. Whether it goes on is not known here, and the rest is what was known then. %2 shows it again.',
            duration(silentMs / 1000),
            `${openerOf(this._kind.kind)[1]}.open(${JSON.stringify(told.name)})`
          )
        : ''
    );
    const isStopping = info.state === 'Stopping';
    this._stop.element.hidden = info.ended || isSilent;
    this._stop.update(!info.ended && !isStopping, isStopping);
    if (isSilent !== this._isSilent) {
      this._isSilent = isSilent;
      this.element.parentElement?.classList.toggle('smtc-stale', isSilent);
      if (!isSilent) {
        this._listen(false, told.name);
      }
    }
    if (isSilent) {
      this._listen(true, told.name);
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
  private readonly _news = h('p', { class: 'smtc-warning', role: 'status' });
  private readonly _stop: StopButton;
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
  if (element.textContent !== text) {
    element.textContent = text;
  }
  element.hidden = text === '';
}
