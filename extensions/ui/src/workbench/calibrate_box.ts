import type { IForecast } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { tell } from '../bounded.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';

/**
 * What stands between the set-ups and a prediction: a calibration that nobody made yet, one that
 * is being made, or why it failed.
 */
export class CalibrateBox {
  /**
   * @param onOrder - Called with what the user wants done.
   */
  constructor(onOrder: (order: 'calibrate' | 'stop-calibrating') => void) {
    this._begin = button(t('Calibrate'), () => {
      onOrder('calibrate');
    });
    this._stop = button(t('Stop calibrating'), () => {
      onOrder('stop-calibrating');
    });
    this.element = h(
      'div',
      { class: 'smtc-calibrate' },
      h('div', { class: 'smtc-row' }, this._begin, this._stop, this._progress),
      this._words
    );
  }

  readonly element: HTMLElement;

  show({ calibrating, missing, of }: IForecast): void {
    const { state, sentence, launch, launches } = calibrating;
    const isGoing = state === 'calibrating' || state === 'stopping';
    this.element.hidden = of === '' || (missing === null && !isGoing);
    this._begin.hidden = isGoing;
    this._stop.hidden = !isGoing;
    this._stop.disabled = state === 'stopping';
    this._progress.hidden = !isGoing || launches === 0;
    this._progress.max = Math.max(1, launches);
    this._progress.value = Math.max(0, launch - 1);
    this._words.classList.toggle('smtc-problem', state === 'failed');
    tell(this._words, isGoing || state === 'failed' ? sentence : told(missing));
  }

  private readonly _begin: HTMLButtonElement;
  private readonly _stop: HTMLButtonElement;
  private readonly _progress = h('progress', {
    'aria-label': t('Launches of the calibration')
  });
  private readonly _words = h('p', { class: 'smtc-note', role: 'status' });
}

/**
 * Return what calibrating would take, before anybody presses the button.
 */
function told(missing: IForecast['missing']): string {
  if (missing === null) {
    return '';
  }
  const time = format(missing.aboutS, 's');
  return `${t('To predict what the set-ups would do: about %1 on this machine.', time)} ${missing.sentence}`;
}
