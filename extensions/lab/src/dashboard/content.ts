import '@smtc-lab/ui/styles/index.css';
import './dashboard.css';
import { h } from '@smtc-lab/ui/dom.js';
import { viewNamed } from './views.js';
import type { Kind } from '../connection/row.js';
import { ProblemBox } from '../problem_box.js';
import type { Texts } from '../texts.js';
import type { IStream, IWatch } from '../tokens.js';

/**
 * The view of a run or a study, the same that a widget shows, fed by the server.
 */
export class DashboardContent {
  readonly element: HTMLElement;

  constructor(
    private readonly _stream: IStream,
    name: string,
    kind: Kind,
    texts: Texts
  ) {
    const view = `${kind}-monitor`;
    this._model = _stream.watch(view, name);
    // listens before anything comes
    this._state = viewNamed(view).initialize(this._model);
    this._view = view;
    this._problem = new ProblemBox(texts, () => {
      _stream.connect();
    });
    this._waiting = h(
      'p',
      { class: 'smtc-note', role: 'status' },
      texts.__('Reading %1 …', name)
    );
    this.element = h(
      'div',
      { class: 'smtc jp-Smtc-dashboard' },
      this._problem.element,
      this._waiting,
      this._host
    );
    this._model.stateChanged.connect(this._update);
    _stream.changed.connect(this._update);
    this._update();
  }

  /**
   * Follow, because somebody looks.
   */
  resume(): void {
    this._model.resume();
  }

  /**
   * Rest, because nobody does.
   */
  pause(): void {
    this._model.pause();
  }

  dispose(): void {
    this._stream.changed.disconnect(this._update);
    this._leave?.();
    this._model.dispose();
    this.element.remove();
  }

  private readonly _update = (): void => {
    const { problem, state } = this._stream;
    const ofModel =
      this._model.problem === ''
        ? null
        : { message: this._model.problem, command: null };
    this._problem.show(
      problem ?? ofModel,
      state === 'cut' || state === 'refused'
    );
    this._waiting.hidden =
      this._model.isReady || problem !== null || ofModel !== null;
    if (this._model.isReady && this._leave === null) {
      this._leave = viewNamed(this._view).render({
        model: this._model,
        el: this._host,
        state: this._state
      });
    }
  };

  private readonly _model: IWatch;
  private readonly _state: unknown;
  private readonly _view: string;
  private readonly _problem: ProblemBox;
  private readonly _waiting: HTMLElement;
  private readonly _host = h('div', {});
  private _leave: (() => void) | null = null;
}
