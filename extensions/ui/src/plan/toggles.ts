import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IPlanInfo } from '@smtc-lab/protocol';
import type { IAxes } from './axes.js';

/**
 * Chooses between numbers of a step and numbers of the whole job.
 */
export class Toggles {
  readonly element = h('div', {
    class: 'smtc-row',
    role: 'group',
    'aria-label': t('Axes')
  });

  constructor(private readonly _onChange: (axes: IAxes) => void) {
    this.element.append(this._time, this._cost);
  }

  /**
   * What is chosen.
   */
  get axes(): IAxes {
    return {
      time: isPressed(this._time) ? 'job' : 'step',
      cost: isPressed(this._cost) ? 'job' : 'steps'
    };
  }

  /**
   * Fit the toggles to a plan; without a number of steps there is no job. At first the axes
   * are those on which its limits are lines.
   */
  show({ steps, deadlineS, budgetUsd }: IPlanInfo): void {
    if (this._isNew) {
      this._isNew = false;
      this._time.setAttribute('aria-pressed', String(deadlineS !== null));
      this._cost.setAttribute('aria-pressed', String(budgetUsd !== null));
    }
    for (const button of [this._time, this._cost]) {
      button.disabled = steps === null;
      button.title =
        steps === null
          ? t('Give plan() the steps of the job to see the whole job.')
          : '';
    }
    this._time.textContent =
      steps === null
        ? t('Time of the job')
        : t('Time of %1 steps', format(steps, 'count'));
  }

  private _button(text: string): HTMLButtonElement {
    const button = h(
      'button',
      {
        type: 'button',
        'aria-pressed': 'false',
        onclick: () => {
          button.setAttribute('aria-pressed', String(!isPressed(button)));
          this._onChange(this.axes);
        }
      },
      text
    );
    return button;
  }

  private _isNew = true;
  private readonly _time = this._button(t('Time of the job'));
  private readonly _cost = this._button(t('Cost of the job'));
}

function isPressed(button: HTMLButtonElement): boolean {
  return button.getAttribute('aria-pressed') === 'true';
}
