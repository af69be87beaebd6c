import { tell } from '../bounded.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel } from '../model.js';

/**
 * Goes on with a search that has ended, with more trials or dollars where they are given.
 */
export class ResumeBox {
  readonly element: HTMLElement;

  constructor(private readonly _model: IModel) {
    this.element = h(
      'div',
      {
        class: 'smtc-row smtc-tuning-resume',
        role: 'group',
        'aria-label': t('Go on')
      },
      this._button,
      h('label', {}, t('Trials in all'), ' ', this._trials),
      h('label', {}, t('Budget in USD'), ' ', this._usd),
      this._said
    );
    const hear = (): void => {
      const problem = _model.get('resume_problem');
      if (typeof problem === 'string' && problem !== '') {
        this._say(problem);
      }
    };
    _model.on('change:resume_problem', hear);
    this._leave = () => {
      _model.off('change:resume_problem', hear);
    };
  }

  /**
   * @param canResume - It has ended, and is here: nothing goes on from a file.
   * @param numTrials - That it was asked for.
   */
  update(
    canResume: boolean,
    numTrials: number,
    budgetUsd: number | null
  ): void {
    this.element.hidden = !canResume;
    if (!canResume) {
      this._button.disabled = false;
      tell(this._said, '');
    }
    this._trials.placeholder = String(numTrials);
    this._usd.placeholder =
      budgetUsd === null ? t('no limit') : String(budgetUsd);
  }

  dispose(): void {
    this._leave();
  }

  private readonly _ask = (): void => {
    const given = (field: HTMLInputElement): number | null =>
      field.value === '' ? null : Number(field.value);
    for (const field of [this._trials, this._usd]) {
      if (!field.validity.valid) {
        field.focus();
        tell(this._said, t('This is no number above 0.'));
        return;
      }
    }
    this._button.disabled = true;
    tell(this._said, t('Going on …'));
    this._model.send({
      type: 'resume',
      max_jobs: given(this._trials),
      budget_usd: given(this._usd)
    });
  };

  private _say(problem: string): void {
    this._button.disabled = false;
    tell(this._said, problem);
  }

  private readonly _button = button(t('Resume'), this._ask);
  private readonly _trials = h('input', {
    ...{ type: 'number', min: 1, step: 1, class: 'smtc-tuning-number' }
  });
  private readonly _usd = h('input', {
    ...{ type: 'number', min: 0.0001, step: 'any', class: 'smtc-tuning-number' }
  });
  private readonly _said = h('span', { class: 'smtc-note', role: 'status' });
  private readonly _leave: () => void;
}
