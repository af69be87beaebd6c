import { button, h } from '../dom.js';
import { Field, selectOf } from '../forms/field.js';
import { numberField } from '../forms/number_field.js';
import { t } from '../i18n.js';

/**
 * What a form asks of a search of hyperparameters, as Python reads it.
 */
export interface ITuneQuestion {
  readonly metric: string;
  readonly ranges: readonly string[];
  readonly maximize: boolean;
  readonly strategy: string;
  readonly trials: number;
  readonly budget_usd: number | null;
}

const MOST_TRIALS = 10_000;

/**
 * The form of a search of hyperparameters of the first set-up.
 */
export class TuneBox {
  /**
   * @param onTune - Called with what is asked.
   */
  constructor(onTune: (question: ITuneQuestion) => void) {
    this._begin = button(t('Tune'), () => {
      onTune(this._question());
    });
    const fields = h(
      'div',
      { class: 'smtc-settings' },
      this._ranges.element,
      this._metric.element,
      this._maximize.element,
      new Field(t('Strategy'), this._strategy).element
    );
    numberField(fields, {
      label: t('Trials in all'),
      value: this._trials,
      min: 1,
      max: MOST_TRIALS,
      isWhole: true,
      onChange: trials => {
        this._trials = trials;
        this._check();
      }
    });
    numberField(fields, {
      label: t('Budget in USD'),
      value: null,
      min: 0,
      placeholder: t('no limit'),
      help: t('No trial begins, and none goes on, beyond it.'),
      onChange: usd => {
        this._usd = usd;
      }
    });
    this.element = h('div', { class: 'smtc-tune' }, fields, this._begin);
    this.element.addEventListener('input', () => {
      this._check();
    });
    this._check();
  }

  readonly element: HTMLElement;

  /**
   * Take note whether anything can be started now.
   */
  allow(isAllowed: boolean): void {
    this._isAllowed = isAllowed;
    this._check();
  }

  private _check(): void {
    const { metric, ranges } = this._question();
    this._begin.disabled =
      !this._isAllowed ||
      metric === '' ||
      ranges.length === 0 ||
      !isCount(this._trials);
  }

  private _question(): ITuneQuestion {
    return {
      metric: this._metric.control.value.trim(),
      ranges: this._ranges.control.value
        .split(/[\n;]/)
        .map(line => line.trim())
        .filter(line => line !== ''),
      maximize: this._tick.checked,
      strategy: this._strategy.value,
      trials: this._trials ?? 0,
      budget_usd: this._usd
    };
  }

  private readonly _ranges = new Field(
    t('What is searched'),
    h('textarea', { rows: 3, spellcheck: false }),
    t(
      'A hyperparameter on each line: ``lr=log:1e-4..1e-1``, ``width=16..256``, ``kind=adam,sgd``.'
    )
  );
  private readonly _metric = new Field(
    t('Objective'),
    h('input', { type: 'text', value: 'loss', spellcheck: false }),
    t('A metric that the script logs; its last value counts.')
  );
  private readonly _tick = h('input', { type: 'checkbox' });
  private readonly _maximize = new Field(
    t('The greatest value is best'),
    this._tick
  );
  private readonly _strategy = selectOf(
    [
      ['Bayesian', t('Bayesian: by what earlier trials found')],
      ['Random', t('Random')],
      ['Hyperband', t('Hyperband: worse ones wait, the best third goes on')],
      ['Grid', t('Grid: all combinations of listed values')]
    ],
    () => undefined
  );
  private readonly _begin: HTMLButtonElement;
  private _trials: number | null = 20;
  private _usd: number | null = null;
  private _isAllowed = true;
}

function isCount(trials: number | null): boolean {
  return trials !== null && trials >= 1 && trials <= MOST_TRIALS;
}
