import type { IComparisonInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IPart } from './part.js';

const SPEECH_MS = 10_000;

/**
 * The verdict, or why there is none yet. It is spoken when it changes, at most every ten
 * seconds, and at the end.
 */
export class Verdict implements IPart {
  readonly element: HTMLElement;

  constructor() {
    this.element = h(
      'div',
      { class: 'smtc-verdict' },
      this._sentence,
      this._mark,
      this._spoken
    );
  }

  update(info: IComparisonInfo): void {
    this._sentence.textContent = info.sentence;
    this._sentence.classList.toggle('smtc-verdict-final', info.isVerdict);
    this._mark.replaceChildren(
      h(
        'span',
        { class: `smtc-badge smtc-${info.evidence}` },
        t(info.evidence)
      ),
      ` ${info.scale === '' ? t('on the hardware that is named') : info.scale}`,
      ...environmentOf(info).map(
        name => ` · ${t('Python environment')}: ${name}`
      )
    );
    this._speak(info);
  }

  dispose(): void {
    clearTimeout(this._timer);
  }

  private _speak(info: IComparisonInfo): void {
    clearTimeout(this._timer);
    const said = info.ended
      ? t('The comparison is %1. %2', info.state, info.sentence)
      : info.sentence;
    if (said === this._said) {
      return;
    }
    const waitMs = info.ended
      ? 0
      : Math.max(0, this._saidMs + SPEECH_MS - performance.now());
    this._timer = setTimeout(() => {
      this._said = said;
      this._saidMs = performance.now();
      this._spoken.textContent = said;
    }, waitMs);
  }

  private readonly _sentence = h('p', { class: 'smtc-verdict-sentence' });
  private readonly _mark = h('p', { class: 'smtc-note' });
  private readonly _spoken = h('p', { class: 'smtc-sr', role: 'status' });
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _said = '';
  private _saidMs = -SPEECH_MS;
}

/**
 * Return the Python environment that all set-ups have, where it is another than that of the
 * launch. Where they differ, the table of set-ups says it.
 */
function environmentOf(info: IComparisonInfo): readonly string[] {
  const names = new Set(info.setUps.map(setUp => setUp.pythonEnvironment));
  return names.size > 1 ? [] : [...names].filter(name => name !== '');
}
