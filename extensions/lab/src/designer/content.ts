import '@smtc-lab/ui/styles/index.css';
import './designer.css';
import { h } from '@smtc-lab/ui/dom.js';
import { t } from '@smtc-lab/ui/i18n.js';
import { viewNamed } from '../dashboard/views.js';
import { delayMs } from '../connection/backoff.js';
import { diagnose } from '../diagnosis.js';
import { dragCells, type IDraggedCell } from '../drag.js';
import { ProblemBox } from '../problem_box.js';
import type { IDesignerOptions } from './panel.js';
import { WorkbenchModel } from './workbench_model.js';

/**
 * The workbench of a panel, or why there is none.
 */
export class DesignerContent {
  constructor(
    node: HTMLElement,
    private readonly _options: IDesignerOptions
  ) {
    this._problem = new ProblemBox(_options.texts, () => {
      void this._open();
    });
    node.replaceChildren(
      h('div', { class: 'smtc' }, this._problem.element, this._place)
    );
    this._leaveDrag = dragCells(this._place, taken => this._cellOf(taken));
    void this._open();
  }

  /**
   * The set-ups as they are typed; undefined: the server has not answered.
   */
  get value(): unknown {
    return this._model?.get('value');
  }

  /**
   * The comparison that was started last; undefined: the server has not answered.
   */
  get running(): string | undefined {
    const running = this._model?.get('running');
    // what is kept is not there yet right after a reload
    return typeof running === 'string' && running !== ''
      ? running
      : this._options.running;
  }

  /**
   * The steps that can be undone; undefined: the server has not answered.
   */
  get undo(): unknown {
    return this._model?.get('undo');
  }

  /**
   * Tell whether somebody can see it.
   */
  look(isVisible: boolean): void {
    this._isVisible = isVisible;
    this._model?.look(isVisible);
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._again);
    this._leaveDrag();
    this._leaveView();
    this._model?.dispose();
  }

  private async _open(): Promise<void> {
    const { stream, texts, rounds, kept, running } = this._options;
    clearTimeout(this._again);
    if (this._failures === 0) {
      this._problem.show(null, false);
    }
    this._place.textContent = t('Asking the server …');
    try {
      const model = await WorkbenchModel.open(
        stream,
        rounds,
        kept,
        running,
        texts
      );
      if (this._isDisposed) {
        model.dispose();
      } else {
        this._problem.show(null, false);
        this._show(model);
      }
    } catch (error) {
      const { problem, isFinal } = diagnose(error, texts);
      this._place.textContent = '';
      this._problem.show(problem, true);
      if (!isFinal && !this._isDisposed) {
        this._failures += 1;
        this._again = setTimeout(
          () => void this._open(),
          delayMs(this._failures, Math.random())
        );
      }
    }
  }

  private _show(model: WorkbenchModel): void {
    this._model = model;
    model.set('undo', this._options.undo ?? { past: [], future: [] });
    model.look(this._isVisible);
    model.on('change:value', this._options.keep);
    model.on('change:running', this._options.keep);
    this._place.textContent = '';
    const view = viewNamed('workbench');
    this._leaveView = view.render({
      model,
      el: this._place,
      state: view.initialize(model)
    });
  }

  /**
   * The title of a set-up is dragged for its cell.
   */
  private _cellOf(taken: Element): IDraggedCell | null {
    const title = taken.closest('.smtc-set-up-title');
    const setUps = [...this._place.querySelectorAll('.smtc-set-up-title')];
    const place = title === null ? -1 : setUps.indexOf(title);
    const code = this._model?.cellOf(place) ?? '';
    return title === null || code === ''
      ? null
      : { code, label: title.textContent };
  }

  private readonly _place = h('div', {});
  private readonly _problem: ProblemBox;
  private readonly _leaveDrag: () => void;
  private _leaveView: () => void = () => undefined;
  private _model: WorkbenchModel | null = null;
  private _again: ReturnType<typeof setTimeout> | undefined;
  private _failures = 0;
  private _isVisible = false;
  private _isDisposed = false;
}
