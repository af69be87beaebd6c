import type { IBeatInfo, IRunInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Facts } from './facts.js';
import type { IPart } from './part.js';
import { StopButton } from './stop_button.js';
import {
  costWords,
  duration,
  evidenceWords,
  priceWords,
  stepWords
} from './words.js';

const SILENT_MS = 6000;

/**
 * Name, state, progress, cost and Stop button of a run; says when no news comes.
 */
export class RunHeader implements IPart {
  readonly element: HTMLElement;

  /**
   * @param run - What is known of the run.
   * @param stop - Ask for its end.
   */
  constructor(run: IRunInfo, stop: () => void) {
    this._run = run;
    this._stop = new StopButton({ what: t('the run'), stop });
    this.element = h(
      'header',
      { class: 'smtc-run-head' },
      h(
        'div',
        { class: 'smtc-run-title' },
        h('h3', {}, run.jobName),
        this._state,
        this._stop.element
      ),
      this._announced,
      this._progress,
      this._facts.element,
      this._reason,
      this._problem,
      this._news
    );
    this._timer = setInterval(() => {
      this._tick();
    }, 1000);
    this.update(run);
  }

  update(run: IRunInfo): void {
    const isNewState = this._state.textContent !== run.state;
    this._run = run;
    this._takeTime(run.elapsedS);
    this._state.textContent = run.state;
    this._state.className = `smtc-badge smtc-state-${run.state.toLowerCase()}`;
    if (isNewState) {
      this._announced.textContent = t(
        'Run %1: %2. %3',
        run.jobName,
        run.state,
        run.reason
      );
    }
    const next = t(' The log tells more; run.logs() returns all of it.');
    this._reason.textContent =
      run.state === 'Failed' ? run.reason + next : run.reason;
    this._reason.className =
      run.state === 'Failed' ? 'smtc-problem' : 'smtc-note';
    this._reason.hidden = run.reason === '';
    this._problem.textContent = run.problem;
    this._problem.hidden = run.problem === '';
    this._stop.element.hidden = run.ended;
    this._tick();
  }

  /**
   * Take a sign of life.
   */
  beat(beat: IBeatInfo): void {
    this._takeTime(beat.elapsedS);
    this._tick();
  }

  /**
   * Count the steps that the tables have, which are newer than those of the description.
   */
  countSteps(steps: number): void {
    this._steps = steps;
  }

  /**
   * Say that the run could not be stopped.
   */
  stopFailed(problem: string): void {
    this._stop.fail(problem);
  }

  dispose(): void {
    clearInterval(this._timer);
  }

  private _takeTime(elapsedS: number | null): void {
    this._elapsedS = elapsedS;
    this._heardMs = performance.now();
  }

  private _tick(): void {
    const run = this._run;
    const silentMs = run.ended ? 0 : performance.now() - this._heardMs;
    const elapsedS =
      this._elapsedS === null ? null : this._elapsedS + silentMs / 1000;
    this._showFacts(run, elapsedS);
    this._showProgress(run);
    this._news.hidden = silentMs < SILENT_MS;
    if (!this._news.hidden) {
      this._news.textContent = t(
        'No news for %1: the kernel or the server is busy in a way that lets nothing through, was restarted, or is gone. The run itself may go on. lab.Run.open(%2) shows it again.',
        duration(silentMs / 1000),
        JSON.stringify(run.jobName)
      );
    }
    const isStopping = run.state === 'Stopping';
    this._stop.update(!run.ended && !isStopping, isStopping);
  }

  private _showFacts(run: IRunInfo, elapsedS: number | null): void {
    this._facts.set(
      t('elapsed'),
      elapsedS === null ? t('not begun') : duration(elapsedS)
    );
    this._facts.set(
      t('cost so far'),
      costWords(run, elapsedS),
      priceWords(run)
    );
    this._facts.set(t(run.evidence), evidenceWords(run));
    this._facts.set(t('prices'), run.priceNotes.join('; ') || t('unknown'));
    this._facts.set(t('script'), run.entryPoint);
    if (run.pythonEnvironment !== '') {
      this._facts.set(t('Python environment'), run.pythonEnvironment);
    }
  }

  private _showProgress(run: IRunInfo): void {
    const steps = Math.max(this._steps, run.steps ?? 0);
    const words = stepWords(steps, run.maxSteps);
    this._bar.hidden = run.maxSteps === null;
    this._bar.max = run.maxSteps ?? 1;
    this._bar.value = steps;
    this._bar.setAttribute('aria-valuetext', words);
    this._count.textContent = words;
  }

  private readonly _state = h('span', { class: 'smtc-badge' });
  private readonly _announced = h('p', { role: 'status', class: 'smtc-sr' });
  private readonly _bar = h('progress', { 'aria-label': t('Steps') });
  private readonly _count = h('span', { class: 'smtc-number' });
  private readonly _progress = h(
    'div',
    { class: 'smtc-run-progress' },
    this._bar,
    this._count
  );
  private readonly _facts = new Facts();
  private readonly _reason = h('p', {});
  private readonly _problem = h('p', { class: 'smtc-problem', role: 'alert' });
  private readonly _news = h('p', { class: 'smtc-warning', role: 'status' });
  private readonly _stop: StopButton;
  private readonly _timer: ReturnType<typeof setInterval>;
  private _run: IRunInfo;
  private _steps = 0;
  private _elapsedS: number | null = null;
  private _heardMs = 0;
}
