import type {
  IBeatInfo,
  IComparisonInfo,
  ILaunchInfo
} from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { StopButton } from '../run/stop_button.js';
import { duration } from '../run/words.js';
import type { IPart } from './part.js';

const SILENT_MS = 6_000;
const TICK_MS = 1_000;

/**
 * Name, state, progress and Stop button of a comparison; says when no news comes.
 */
export class ComparisonHeader implements IPart {
  readonly element: HTMLElement;

  /**
   * @param info - Where the comparison stands.
   * @param stop - Ask for its end.
   */
  constructor(info: IComparisonInfo, stop: () => void) {
    this._info = info;
    this._stop = new StopButton({ what: t('the comparison'), stop });
    this.element = h(
      'header',
      { class: 'smtc-comparison-head' },
      h(
        'div',
        { class: 'smtc-comparison-title' },
        h('h3', {}, info.name),
        this._state,
        this._stop.element
      ),
      h('div', { class: 'smtc-comparison-progress' }, this._bar, this._where),
      this._reason,
      this._news
    );
    this._timer = setInterval(() => {
      this._tick();
    }, TICK_MS);
    this.update(info);
  }

  update(info: IComparisonInfo): void {
    this._info = info;
    this._hear(info.elapsedS);
    this._state.textContent = info.state;
    this._state.className = `smtc-badge smtc-state-${info.state.toLowerCase()}`;
    this._reason.textContent = info.reason;
    this._reason.className =
      info.state === 'Failed' ? 'smtc-problem' : 'smtc-note';
    this._reason.hidden = info.reason === '';
    const isStopping = info.state === 'Stopping';
    this._stop.update(!info.ended && !isStopping, isStopping);
    this._stop.element.hidden = info.ended;
    this._tick();
  }

  /**
   * Take a sign of life.
   */
  beat(beat: IBeatInfo): void {
    this._hear(beat.elapsedS ?? this._elapsedS);
    this._tick();
  }

  /**
   * Say that the comparison could not be stopped.
   */
  stopFailed(problem: string): void {
    this._stop.fail(problem);
  }

  dispose(): void {
    clearInterval(this._timer);
  }

  private _hear(elapsedS: number): void {
    this._elapsedS = elapsedS;
    this._heardMs = performance.now();
  }

  private _tick(): void {
    const info = this._info;
    const silentMs = info.ended ? 0 : performance.now() - this._heardMs;
    const words = [
      progressWords(info),
      duration(this._elapsedS + silentMs / 1000)
    ].join(' · ');
    this._where.textContent = words;
    this._bar.max = 1;
    this._bar.value = doneFraction(info);
    this._bar.setAttribute('aria-valuetext', words);
    this._news.hidden = silentMs < SILENT_MS;
    if (!this._news.hidden) {
      this._news.textContent = t(
        'No news for %1: the kernel or the server is busy, was restarted, or is gone. The comparison itself may go on. lab.ComparisonRun.open(%2) shows it again.',
        duration(silentMs / 1000),
        JSON.stringify(info.name)
      );
    }
  }

  private readonly _state = h('span', { class: 'smtc-badge' });
  private readonly _bar = h('progress', { 'aria-label': t('Launches') });
  private readonly _where = h('span', { class: 'smtc-number' });
  private readonly _reason = h('p', {});
  private readonly _news = h('p', { class: 'smtc-warning', role: 'status' });
  private readonly _stop: StopButton;
  private readonly _timer: ReturnType<typeof setInterval>;
  private _info: IComparisonInfo;
  private _elapsedS = 0;
  private _heardMs = 0;
}

/**
 * Say which launch runs, and how far it is.
 */
export function progressWords(info: IComparisonInfo): string {
  const newest = info.launched.at(-1);
  const launches = format(info.launches, 'count');
  if (newest === undefined) {
    return info.ended
      ? t('nothing was launched')
      : t('0 of %1 launches', launches);
  }
  const count = t(
    'launch %1 of %2',
    format(info.launched.length, 'count'),
    launches
  );
  if (info.ended) {
    return count;
  }
  const round =
    newest.round === null
      ? t('parity check')
      : t(
          'round %1 of %2',
          format(newest.round, 'count'),
          format(info.rounds, 'count')
        );
  return `${count}: ${newest.label}, ${round}, ${stepsOf(newest)}`;
}

function stepsOf(launch: ILaunchInfo): string {
  if (launch.steps === 0) {
    return t('starting');
  }
  const steps = format(launch.steps, 'count');
  return launch.maxSteps === null
    ? t('step %1', steps)
    : t('step %1 of %2', steps, format(launch.maxSteps, 'count'));
}

/**
 * Return the share of all launches that is done, 0 to 1; steps of the newest one count.
 */
export function doneFraction(info: IComparisonInfo): number {
  const newest = info.launched.at(-1);
  if (newest === undefined || info.launches === 0) {
    return 0;
  }
  const part =
    newest.state === 'Completed'
      ? 1
      : newest.steps / Math.max(newest.maxSteps ?? Infinity, newest.steps, 1);
  return Math.min(1, (info.launched.length - 1 + part) / info.launches);
}
