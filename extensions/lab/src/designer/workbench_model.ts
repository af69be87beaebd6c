import { objectOf, textField, type JsonObject } from '@smtc-lab/protocol';
import type { IModel } from '@smtc-lab/ui/model.js';
import { BaseModel } from '@smtc-lab/ui/base_model.js';
import { spotSection } from '@smtc-lab/ui/spot/section.js';
import { RequestError } from '../connection/request_error.js';
import { diagnose } from '../diagnosis.js';
import type { Texts } from '../texts.js';
import type { IStream, IWatch } from '../tokens.js';
import { EnvironmentsPoll } from './environments_poll.js';
import { ForecastPoll } from './forecast_poll.js';
import { askLadders } from './ask_ladders.js';
import { askSpot } from './ask_spot.js';
import { PlansPoll } from './plans_poll.js';

const TYPING_MS = 200;
const FORWARDED = ['info', 'result', 'beat', 'stop_problem'];

/**
 * The model of the workbench with a server behind it in the place of a kernel: the server says
 * what is wrong with the set-ups, writes the code, and starts what the Run button asks for.
 * What runs is watched like any comparison, and goes on when this model is gone.
 *
 * Has the traits of `smtc_lab.views.widgets.workbench.Workbench`.
 */
export class WorkbenchModel extends BaseModel implements IModel {
  /**
   * Ask the server for what a workbench begins with.
   *
   * @param kept - The set-ups of an earlier one as JSON; null: the pair of the demo.
   * @param running - The comparison that it had started last; empty: none.
   * @throws RequestError when the server does not answer.
   */
  static async open(
    stream: IStream,
    rounds: number,
    kept: unknown,
    running: string,
    texts: Texts
  ): Promise<WorkbenchModel> {
    const [catalog, checked] = await Promise.all([
      stream.request('catalog'),
      stream.request('set-ups', { value: kept, rounds })
    ]);
    const made = new WorkbenchModel(stream, texts, {
      catalog,
      rounds,
      start_problem: '',
      running: '',
      info: {},
      result: '',
      beat: { number: 0, elapsed_s: null },
      stop_problem: '',
      ...objectOf(checked, 'The checked set-ups')
    });
    made._forecasts.change();
    if (running !== '') {
      made._follow(running, true);
    }
    return made;
  }

  private constructor(
    private readonly _stream: IStream,
    private readonly _texts: Texts,
    values: JsonObject
  ) {
    super(values);
    this._environments = new EnvironmentsPoll(
      body => _stream.request('environments', body),
      told => {
        this.set('environments', told);
        void this._check(); // what is wrong may be another thing
      },
      error => this._wordsOf(error)
    );
    this._forecasts = new ForecastPoll(
      () =>
        _stream.request('forecast', {
          value: this.get('value'),
          rounds: this.get('rounds')
        }),
      isBegin =>
        _stream.request('calibration', {
          calibrate: isBegin ? this.get('value') : null
        }),
      told => {
        this.set('forecast', told);
        this._plans.hear(told);
      },
      error => this._wordsOf(error)
    );
    this._plans = new PlansPoll(
      () =>
        _stream.request('catalog-plans', {
          value: this.get('value'),
          rounds: this.get('rounds')
        }),
      told => {
        this.set('catalog_plans', told);
      }
    );
  }

  /**
   * The cell that launches a set-up by itself; empty: it has problems, or is being checked.
   */
  cellOf(place: number): string {
    const cells = this.values.get('cells');
    const cell: unknown = Array.isArray(cells) ? cells[place] : undefined;
    return typeof cell === 'string' ? cell : '';
  }

  save_changes(): void {
    this._forecasts.change();
    clearTimeout(this._timer);
    this._timer = setTimeout(() => {
      void this._check();
    }, TYPING_MS);
  }

  send(message: unknown): void {
    const { type } = objectOf(message, 'A message');
    if (type === 'run') {
      void this._start({ kind: 'comparison' });
    } else if (type === 'scale') {
      const { devices = [] } = objectOf(message, 'A message');
      void this._start({ kind: 'scaling', devices });
    } else if (type === 'tune') {
      const { question = {} } = objectOf(message, 'A message');
      void this._start({ kind: 'tuning', question });
    } else if (type === 'forecast') {
      this._forecasts.change();
    } else if (type === 'calibrate' || type === 'stop-calibrating') {
      void this._forecasts.calibrate(type === 'calibrate');
    } else if (type === 'scripts') {
      void this._offerScripts(
        textField(objectOf(message, 'A message'), 'folder')
      );
    } else if (type === 'compiler-ladders') {
      void askLadders(this, this._stream, error => this._wordsOf(error));
    } else if (type === 'spot-part') {
      this.tell('msg:custom', { type, module: { spotSection } });
    } else if (type === 'spot-forecast') {
      const { question } = objectOf(message, 'A message');
      void askSpot(this, this._stream, question, error => this._wordsOf(error));
    } else if (type === 'environments') {
      void this._environments.look();
    } else if (type === 'make-xla') {
      void this._environments.make();
    } else {
      this._watch?.send(message);
    }
  }

  /**
   * Watch what runs only while somebody can see it.
   */
  look(isVisible: boolean): void {
    this._environments.setVisible(isVisible);
    this._forecasts.setVisible(isVisible);
    if (isVisible) {
      this._watch?.resume();
    } else {
      this._watch?.pause();
    }
  }

  dispose(): void {
    clearTimeout(this._timer);
    this._isDisposed = true;
    this._asked += 1;
    this._environments.dispose();
    this._forecasts.dispose();
    this._plans.dispose();
    this._watch?.dispose();
    this._watch = null;
  }

  /**
   * Check what is typed, and say it when no answer comes.
   */
  private async _check(): Promise<void> {
    const asked = this._asked + 1;
    try {
      await this._checked();
    } catch (error) {
      if (asked === this._asked) {
        this.set('start_problem', this._wordsOf(error));
      }
    }
  }

  /**
   * Check what is typed. Only the answer to the newest question is shown.
   *
   * @returns What could be run of what was typed when it was asked; empty: it has problems.
   */
  private async _checked(): Promise<readonly unknown[]> {
    clearTimeout(this._timer);
    const asked = ++this._asked;
    const [value, rounds] = [this.get('value'), this.get('rounds')];
    const before = this.get('start_problem');
    const answer = objectOf(
      await this._stream.request('set-ups', { value, rounds }),
      'The checked set-ups'
    );
    if (asked === this._asked) {
      for (const name of ['problems', 'cautions', 'jobs', 'cells', 'code']) {
        this.set(name, answer[name]);
      }
      if (this.get('start_problem') === before) {
        this.set('start_problem', ''); // it was of what was typed before
      }
    }
    const jobs: unknown = answer['jobs'];
    return Array.isArray(jobs) ? (jobs as readonly unknown[]) : [];
  }

  /**
   * Start what stands there now, whatever is typed or checked meanwhile.
   *
   * @param study - The kind of study, and what it asks beside the set-ups.
   */
  private async _start(study: JsonObject): Promise<void> {
    this.set('start_problem', '');
    const rounds = this.get('rounds');
    try {
      // what was typed last may not be checked yet
      const jobs = await this._checked();
      if (this._isDisposed) {
        return;
      }
      if (jobs.length === 0) {
        this.set(
          'start_problem',
          this._texts.__('Mend what is wrong above first.')
        );
        return;
      }
      const started = objectOf(
        await this._stream.request('runs', { ...study, jobs, rounds }),
        'What was started'
      );
      this._follow(textField(started, 'name'));
    } catch (error) {
      this.set('start_problem', this._wordsOf(error));
    }
  }

  /**
   * Tell the scripts at hand, with those of a folder; empty: the server's own.
   */
  private async _offerScripts(folder: string): Promise<void> {
    let told: unknown;
    try {
      told = await this._stream.request('scripts', { folder });
    } catch (error) {
      const problem = this._wordsOf(error);
      const empty = { parent: null, folders: [], files: [], is_cut: false };
      told = {
        ...{ version: 1, recent: [], examples: [], cells: [], saved: null },
        folder: { ...empty, path: folder, problem }
      };
    }
    this.set('scripts', told);
  }

  /**
   * @param isKept - It was started before the page was reloaded, and may be gone.
   */
  private _follow(name: string, isKept = false): void {
    if (this._isDisposed) {
      return;
    }
    this._watch?.dispose();
    const watch = this._stream.watch('comparison-monitor', name);
    this._watch = watch;
    const begin = (): void => {
      if (watch.problem !== '' && isKept && this.get('running') === '') {
        watch.dispose();
      } else if (watch.problem !== '') {
        this.set('start_problem', watch.problem);
      } else if (watch.isReady && this.get('running') !== name) {
        this.set('running', name);
      }
    };
    for (const trait of FORWARDED) {
      watch.on(`change:${trait}`, () => {
        this.set(trait, watch.get(trait));
      });
    }
    watch.on('msg:custom', (...message: unknown[]) => {
      this.tell('msg:custom', ...message);
    });
    watch.stateChanged.connect(begin);
    this.set('result', '');
    this.set('stop_problem', '');
    watch.resume();
  }

  /**
   * The server's own words where it has some: they name what is wrong with the set-ups.
   */
  private _wordsOf(error: unknown): string {
    const words = error instanceof RequestError ? error.message : String(error);
    return words === '' ? diagnose(error, this._texts).problem.message : words;
  }

  private readonly _environments: EnvironmentsPoll;
  private readonly _forecasts: ForecastPoll;
  private readonly _plans: PlansPoll;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _watch: IWatch | null = null;
  private _asked = 0;
  private _isDisposed = false;
}
