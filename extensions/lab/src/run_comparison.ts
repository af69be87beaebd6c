import '@smtc-lab/ui/styles/index.css';
import { BaseModel } from '@smtc-lab/ui/base_model.js';
import { h } from '@smtc-lab/ui/dom.js';
import { keepKeys } from '@smtc-lab/ui/keep_keys.js';
import type { IModel } from '@smtc-lab/ui/model.js';
import { runComparison } from '@smtc-lab/ui/run_comparison/view.js';
import './dashboard/dashboard.css';
import { MainTab } from './main_tab.js';
import { ProblemBox } from './problem_box.js';
import type { Texts } from './texts.js';
import type { IStream } from './tokens.js';

/**
 * Runs beside each other, in the main area.
 */
export class ComparedRuns extends MainTab {
  static idOf(names: readonly string[]): string {
    return `smtc-lab:compared-runs:${names.join()}`;
  }

  constructor(
    private readonly _stream: IStream,
    readonly names: readonly string[],
    texts: Texts
  ) {
    super(
      ComparedRuns.idOf(names),
      texts._n('%1 run', '%1 runs', names.length),
      names.join('\n')
    );
    this._problem = new ProblemBox(texts, () => {
      void this._read();
    });
    this._waiting = h(
      'p',
      { class: 'smtc-note', role: 'status' },
      texts.__('Reading %1 …', names.join(', '))
    );
    this.node.append(
      h(
        'div',
        { class: 'smtc jp-Smtc-dashboard', onfocusin: keepKeys },
        this._problem.element,
        this._waiting,
        this._host
      )
    );
    this._problem.show(null, false);
    void this._read();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._leave?.();
      super.dispose();
    }
  }

  /**
   * Show one metric as soon as it is there, then all of them.
   */
  private async _read(): Promise<void> {
    this._problem.show(null, false);
    const path = `comparison-of-runs?names=${this.names.join()}`;
    try {
      this._show(await this._stream.request(`${path}&metrics=1`));
      this._show(await this._stream.request(path));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this._problem.show({ message, command: null }, true);
    }
    this._waiting.hidden = true;
  }

  private _show(comparison: unknown): void {
    if (this.isDisposed) {
      return;
    }
    this._waiting.hidden = true;
    this._model.set('comparison', comparison);
    this._leave ??= runComparison.render({
      ...{ model: this._model, el: this._host },
      state: runComparison.initialize(this._model)
    });
  }

  private readonly _problem: ProblemBox;
  private readonly _waiting: HTMLElement;
  private readonly _host = h('div', {});
  private readonly _model = new ReadModel({});
  private _leave: (() => void) | null = null;
}

/**
 * A model of what was asked for: nobody learns of its changes but the view.
 */
class ReadModel extends BaseModel implements IModel {
  save_changes(): void {
    // there is no kernel
  }

  send(): void {
    // as above
  }
}
