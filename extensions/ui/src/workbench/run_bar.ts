import { objectOf, parseForecast, type IForecast } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { tell } from '../bounded.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import { numberField } from '../forms/number_field.js';
import type { IModel } from '../model.js';
import { ScriptField } from '../scripts/script_field.js';
import { CalibrateBox } from './calibrate_box.js';
import { EmulationFields, isOfEmulation } from './emulation_fields.js';
import { ExampleValues } from './example_values.js';
import { ScaleBox } from './scale_box.js';
import type { SetUps } from './set_ups.js';
import { TunePlace } from './tune_place.js';

/**
 * What all set-ups have in common, and the button that runs them.
 */
export class RunBar {
  constructor(
    private readonly _model: IModel,
    private readonly _setUps: SetUps
  ) {
    const compare = t('What to compare: add a set-up like A, but');
    const fields = h('div', { class: 'smtc-row' });
    this._rounds = numberField(fields, {
      label: t('Launches of each'),
      value: null,
      min: 1,
      max: 100,
      isWhole: true,
      onChange: rounds => {
        if (rounds !== null && rounds >= 1 && rounds <= 100) {
          _model.set('rounds', rounds);
          _model.save_changes();
        }
      }
    });
    this._tune = new TunePlace(_model, question => {
      this._start({ type: 'tune', question });
    });
    this._emulation = new EmulationFields(fields, change => {
      _setUps.changeAll(change);
    });
    this.element = h(
      'div',
      { class: 'smtc-run-bar' },
      h(
        'div',
        { class: 'smtc-story-part' },
        this._script.element,
        this._calibrate.element
      ),
      h(
        'div',
        { class: 'smtc-story-part', role: 'group', 'aria-label': compare },
        h('span', { class: 'smtc-soft' }, compare),
        _setUps.templates.element
      ),
      h(
        'div',
        { class: 'smtc-story-part' },
        fields,
        h('div', { class: 'smtc-row' }, this._run, this._status),
        this._cautions,
        this._scale.element,
        this._tune.element,
        this._problem
      )
    );
    this.update();
  }

  readonly element: HTMLElement;

  /**
   * Show what the model and the set-ups say now.
   */
  update(): void {
    const [first] = this._setUps.jobs;
    this._examples.note(this._setUps.jobs);
    this._script.show(first?.entryPoint ?? '');
    this._rounds.update({ value: Number(this._model.get('rounds')) });
    const problems = problemsOf(this._model);
    this._emulation.show(first, problems);
    const isRunning = isAlive(this._model);
    this._run.disabled = problems.length > 0 || isRunning || this._isStarting;
    this._scale.allow(!this._run.disabled);
    this._tune.allow(!this._run.disabled);
    const forecast = parseForecast(this._model.get('forecast'));
    this._calibrate.show(forecast);
    tell(
      this._status,
      statusText(
        problems.length,
        isRunning,
        this._isStarting,
        this._isHeard,
        forecast
      )
    );
    tell(this._cautions, textsOf(this._model, 'cautions').join('\n'));
    const problem = String(this._model.get('start_problem'));
    tell(this._problem, problem);
    this._problem.hidden = problem === '';
  }

  /**
   * Take note whether the model tells news of what runs.
   */
  hear(isHeard: boolean): void {
    this._isHeard = isHeard;
    this.update();
  }

  /**
   * Offer the scripts that the model tells of.
   */
  offer(): void {
    this._script.offer(this._model.get('scripts'));
  }

  /**
   * Take note that something was started, or could not be.
   *
   * @returns Whether it was asked for here.
   */
  settled(): boolean {
    const wasAsked = this._isStarting;
    this._isStarting = false;
    this.update();
    return wasAsked;
  }

  private _start(order: object): void {
    this._isStarting = true;
    this.update();
    this._model.send(order);
  }

  private readonly _script = new ScriptField(
    entryPoint => {
      this._setUps.changeAll(job => this._examples.withScript(job, entryPoint));
    },
    message => {
      this._model.send(message);
    }
  );
  private readonly _run = button(
    t('Run'),
    () => {
      this._start({ type: 'run' });
    },
    { class: 'smtc-primary' }
  );
  private readonly _scale = new ScaleBox(devices => {
    this._start({ type: 'scale', devices });
  });
  private readonly _status = h('span', { class: 'smtc-note', role: 'status' });
  private readonly _calibrate = new CalibrateBox(type => {
    this._model.send({ type });
  });
  private readonly _cautions = h('p', { class: 'smtc-note', role: 'status' });
  private readonly _problem = h('p', { class: 'smtc-problem', role: 'alert' });
  private readonly _rounds: ReturnType<typeof numberField>;
  private readonly _tune: TunePlace;
  private readonly _emulation: EmulationFields;
  private readonly _examples = new ExampleValues();
  private _isStarting = false;
  private _isHeard = true;
}

/**
 * Return what is wrong with the set-ups; what they have in common, once.
 */
function problemsOf(model: IModel): readonly string[] {
  return textsOf(model, 'problems').filter(
    (text, at, texts) => !isOfEmulation(text) || texts.indexOf(text) === at
  );
}

function textsOf(model: IModel, trait: string): readonly string[] {
  const texts = model.get(trait);
  return Array.isArray(texts) ? texts.flat().map(String) : [];
}

function isAlive(model: IModel): boolean {
  const info = objectOf(model.get('info'), 'The comparison');
  return 'ended' in info && info['ended'] === false;
}

function statusText(
  problems: number,
  isRunning: boolean,
  isStarting: boolean,
  isHeard: boolean,
  forecast: IForecast
): string {
  if (isStarting) {
    return t('Starting…');
  }
  if (isRunning && !isHeard) {
    return t('There are no news of what was run: see below.');
  }
  if (isRunning) {
    return t('Running. Stop it below, or wait for its end.');
  }
  if (problems === 0) {
    return [timeText(forecast.comparisonS), costText(forecast)]
      .join(' ')
      .trim();
  }
  return problems === 1
    ? t('One thing is to be mended first.')
    : t('%1 things are to be mended first.', problems);
}

function timeText(lastsS: number | null): string {
  return lastsS === null
    ? t('Runs on this machine: nothing is billed.')
    : t('About %1 on this machine: nothing is billed.', format(lastsS, 's'));
}

/**
 * Return what all launches would cost on the instances that are named; empty: not known.
 */
function costText({ comparisonUsd, setUps }: IForecast): string {
  if (comparisonUsd === null) {
    return '';
  }
  const usd = format(comparisonUsd, 'USD');
  return setUps.some(({ isEmulated }) => isEmulated)
    ? t('On the instances that are named, its steps would cost about %1.', usd)
    : t('On the instances that are named, it would cost about %1.', usd);
}
