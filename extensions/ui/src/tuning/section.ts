import {
  readOnce,
  readWire,
  type ITrialInfo,
  type ITuningInfo
} from '@smtc-lab/protocol';
import { paragraph } from '../bounded.js';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel } from '../model.js';
import { drawn, type IPart } from '../monitor/part.js';
import { folded } from '../monitor/section.js';
import { column, table } from '../monitor/table.js';
import { stateWord } from '../monitor/words.js';
import { patch } from '../patch.js';
import { best } from './best.js';
import { curves } from './curves.js';
import { parallel } from './parallel.js';
import { bar } from './plot.js';
import { pareto } from './pareto.js';
import { ResumeBox } from './resume.js';
import { slices } from './slices.js';
import { judged, valueWords } from './words.js';

/**
 * What the section is told.
 */
export interface ITuningProps {
  /**
   * A `TuningInfo` as JSON.
   */
  readonly values: unknown;

  /**
   * What matters, in words.
   */
  readonly sentence: string;

  /**
   * Whether the search has ended.
   */
  readonly ended: boolean;
}

/**
 * The pictures of a search of hyperparameters.
 */
export class TuningSection {
  readonly element: HTMLElement;

  constructor(model: IModel) {
    // nothing goes on from a file
    this._isLive = model.get('resume_problem') !== undefined;
    this._resume = new ResumeBox(model);
    const info = (): ITuningInfo | null => this._info;
    this._figures = [best, parallel, slices, curves, pareto].map(each =>
      each(info)
    );
    this.element = h(
      'div',
      { class: 'smtc-tuning' },
      this._resume.element,
      this._money,
      this._state,
      ...this._figures.map(each => each.element),
      this._words,
      this._left,
      this._table.element
    );
  }

  update({ values, sentence, ended }: ITuningProps): void {
    const info = read(values);
    const isNews = info !== this._info;
    this._info = info;
    this._resume.update(ended && this._isLive, info.numTrials, info.budgetUsd);
    patch(this._money, moneyNodes(info));
    patch(this._state, stateNodes(info, ended));
    if (!isNews) {
      return;
    }
    patch(this._words, [
      document.createTextNode(judged(info).length > 0 ? sentence : '')
    ]);
    patch(
      this._left,
      info.leftOut.map(words => paragraph(words))
    );
    this._table.update(info);
    this._figures.forEach(each => {
      each.show();
    });
  }

  dispose(): void {
    this._resume.dispose();
    this._figures.forEach(each => {
      each.dispose();
    });
  }

  private readonly _money = h('div', { class: 'smtc-tuning-money' });
  private readonly _state = h('div', {});
  private readonly _words = h('p', { class: 'smtc-note' });
  private readonly _left = h('div', {});
  private readonly _table = folded(t('Trials'), false, trialTable());
  private readonly _resume: ResumeBox;
  private readonly _figures;
  private readonly _isLive: boolean;
  private _info: ITuningInfo | null = null;
}

const read = readOnce(json => readWire('TuningInfo', json));

/**
 * Say what was spent of the budget, with a bar, and how many trials have ended.
 */
function moneyNodes(info: ITuningInfo): readonly Node[] {
  const { usd, budgetUsd, ended, numTrials, evidence } = info;
  const spent = format(usd ?? NaN, 'USD');
  const words =
    budgetUsd === null
      ? t('%1 spent, no budget', spent)
      : t('%1 of %2 spent', spent, format(budgetUsd, 'USD'));
  const told = (text: string): HTMLElement =>
    h('span', { class: 'smtc-number' }, text);
  return [
    bar(
      ended / Math.max(1, numTrials),
      told(t('%1 of %2 trials ended', ended, numTrials))
    ),
    ...(usd === null || budgetUsd === null
      ? [h('p', { class: 'smtc-note' }, words)]
      : [bar(usd / budgetUsd, told(words))]),
    ...(evidence === 'measured'
      ? []
      : [h('span', { class: 'smtc-badge' }, t(evidence))])
  ];
}

function stateNodes(info: ITuningInfo, ended: boolean): readonly Node[] {
  const words = ended
    ? []
    : [
        t(
          'Stop is a pause: a search that was stopped goes on with Resume, and loses no trial.'
        )
      ];
  if (info.begun === 0) {
    words.push(t('No trial has begun yet.'));
  } else if (info.soFar.length === 0) {
    words.push(t('No trial has ended with a %1 yet.', info.objective));
  }
  const failed = info.trials.filter(({ state }) => state === 'Failed');
  const [first] = failed;
  return [
    ...words.map(each => paragraph(each)),
    ...(first === undefined
      ? []
      : [
          paragraph(
            `${t('%1 trials failed. Trial %2:', failed.length, first.number)} ${first.reason}`,
            'smtc-warning'
          )
        ])
  ];
}

function trialTable(): IPart<ITuningInfo> {
  const region = { tabindex: 0, role: 'region', 'aria-label': t('Trials') };
  return drawn(
    h('div', { class: 'smtc-scroll', ...region }),
    ({ searched, trials, objective }) => {
      const heads = [
        ...[t('Trial'), objective, ...searched.map(({ name }) => name)],
        ...[t('State'), t('Steps'), t('Cost'), t('Name of the run')]
      ];
      const lines = trials.map(
        trial =>
          [
            format(trial.number, 'count'),
            format(trial.objective ?? NaN, 'number'),
            ...searched.map((each, place) =>
              valueWords(each, trial.values[place] ?? null)
            ),
            [stateOf(trial), trial.reason].filter(Boolean).join(': '),
            format(trial.steps, 'count'),
            format(trial.usd ?? NaN, 'USD'),
            h('code', {}, trial.run)
          ] as const
      );
      const names = heads.map(name => column(name));
      return [table('', names, lines)];
    }
  );
}

function stateOf({ state }: ITrialInfo): string {
  return state === 'Paused' ? t('Paused') : t(stateWord(state));
}
