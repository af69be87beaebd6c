import { readWire } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { Feed } from '../live/feed.js';
import { t } from '../i18n.js';
import type { IModel, IView } from '../model.js';
import { RunEvents } from './events.js';
import { RunHeader } from './header.js';
import { LogView } from './log_view.js';
import { RunNumbers } from './numbers.js';
import { section } from './section.js';
import { StepCharts } from './step_charts.js';
import { UtilizationCharts } from './utilization_charts.js';

const NARROW_PX = 480;

/**
 * A run, watched live: state, charts, events, log, and its Stop button.
 */
export const runMonitor: IView = {
  initialize(model): Feed {
    return new Feed(model);
  },
  render({ model, el, state }): () => void {
    const monitor = new RunMonitor(model, state as Feed, el);
    return () => {
      monitor.dispose();
    };
  }
};

/**
 * One place where a run is shown.
 */
class RunMonitor {
  constructor(
    private readonly _model: IModel,
    private readonly _feed: Feed,
    el: HTMLElement
  ) {
    const run = readWire('RunInfo', _model.get('info'));
    this._header = new RunHeader(run, () => {
      _model.send({ type: 'stop' });
    });
    this._steps = new StepCharts(_feed);
    this._utilization = new UtilizationCharts(_feed);
    const isWide = el.clientWidth === 0 || el.clientWidth >= NARROW_PX;
    const charts = section(t('Step time and cost'), true);
    const utilization = section(t('Utilization'), isWide);
    const events = section(t('Events and findings'), isWide);
    const log = section(t('Log'), isWide);
    charts.body.append(this._steps.element);
    utilization.body.append(this._utilization.element);
    events.body.append(this._events.element);
    log.body.append(this._log.element);
    this.element = h(
      'section',
      { class: 'smtc-run', 'aria-label': t('Run %1', run.jobName) },
      this._header.element,
      this._numbers.element,
      charts.element,
      utilization.element,
      events.element,
      this._hasLog ? log.element : null
    );
    el.append(this.element);
    this._listen();
    this._takeInfo();
    this._takeBeat();
    this._takeLog();
  }

  dispose(): void {
    for (const [event, callback] of this._callbacks) {
      this._model.off(event, callback);
    }
    this._leaveFeed();
    this._leaveTable();
    for (const part of this._parts) {
      part.dispose();
    }
    this.element.remove();
  }

  readonly element: HTMLElement;

  private get _parts(): readonly (
    | RunHeader
    | RunNumbers
    | StepCharts
    | UtilizationCharts
    | RunEvents
  )[] {
    return [
      this._header,
      this._numbers,
      this._steps,
      this._utilization,
      this._events
    ];
  }

  private _listen(): void {
    for (const [event, callback] of this._callbacks) {
      this._model.on(event, callback);
    }
    this._leaveFeed = this._feed.onTable(table => {
      const now = readWire('RunInfo', this._model.get('info'));
      this._steps.update(now);
      this._utilization.update(now);
      if (table.name === 'steps') {
        this._countSteps();
      }
    });
    this._countSteps();
  }

  private _countSteps(): void {
    const table = this._feed.table('steps');
    if (table !== undefined) {
      this._leaveTable();
      this._header.countSteps(table.numRows);
      this._leaveTable = table.subscribe(() => {
        this._header.countSteps(table.numRows);
      });
    }
  }

  private _takeInfo(): void {
    const run = readWire('RunInfo', this._model.get('info'));
    for (const part of this._parts) {
      part.update(run);
    }
  }

  private _takeBeat(): void {
    this._header.beat(readWire('BeatInfo', this._model.get('beat')));
  }

  private _takeLog(): void {
    if (this._hasLog) {
      this._log.update(readWire('LogInfo', this._model.get('log')));
    }
  }

  /**
   * A saved run has none: what a script prints is kept where it ran.
   */
  private get _hasLog(): boolean {
    return this._model.get('log') !== undefined;
  }

  private readonly _callbacks: readonly (readonly [string, () => void])[] = [
    [
      'change:info',
      () => {
        this._takeInfo();
      }
    ],
    [
      'change:log',
      () => {
        this._takeLog();
      }
    ],
    [
      'change:beat',
      () => {
        this._takeBeat();
      }
    ],
    [
      'change:stop_problem',
      () => {
        this._header.stopFailed(String(this._model.get('stop_problem')));
      }
    ]
  ];
  private readonly _header: RunHeader;
  private readonly _numbers = new RunNumbers();
  private readonly _steps: StepCharts;
  private readonly _utilization: UtilizationCharts;
  private readonly _events = new RunEvents();
  private readonly _log = new LogView();
  private _leaveFeed: () => void = () => undefined;
  private _leaveTable: () => void = () => undefined;
}
