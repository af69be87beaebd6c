import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { h } from '@smtc-lab/ui/dom.js';
import { runTable } from '@smtc-lab/ui/run_table/view.js';
import '@smtc-lab/ui/styles/run_table_index.css';
import { isWanted } from '../asked.js';
import '../dashboard/dashboard.css';
import { MainTab } from '../main_tab.js';
import type { ILabSettings } from '../settings.js';
import type { Texts } from '../texts.js';
import type { ILab, IStream } from '../tokens.js';
import { TableModel } from './model.js';

/**
 * What the tab needs.
 */
export interface ITablePanelOptions {
  readonly app: JupyterFrontEnd;
  readonly lab: ILab;
  readonly stream: IStream;
  readonly texts: Texts;
  readonly settings: () => ILabSettings;
}

/**
 * The table of runs in the main area.
 */
export class TablePanel extends MainTab {
  static readonly id = 'smtc-lab-table';

  constructor(private readonly _options: ITablePanelOptions) {
    super(TablePanel.id, _options.texts.__('Table of runs'));
    this._model = new TableModel({
      ..._options,
      mayDelete: count => this._mayDelete(count)
    });
    const el = h('div', { class: 'smtc jp-Smtc-dashboard' });
    this.node.append(el);
    this._leave = runTable.render({ model: this._model, el, state: null });
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._follow?.dispose();
      this._leave();
      this._model.dispose();
      super.dispose();
    }
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._follow ??= this._options.stream.runs.follow();
    this._model.refresh();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._follow?.dispose();
    this._follow = null;
  }

  private async _mayDelete(count: number): Promise<boolean> {
    const { texts, settings } = this._options;
    const question = {
      title: texts._n('Delete %1 run?', 'Delete %1 runs?', count),
      body: texts.__(
        'Their records, logs and checkpoints on this machine go. You can undo it while this page is open, for a day at most.'
      ),
      keep: texts.__('Keep them'),
      act: texts.__('Delete them')
    };
    return !settings().confirmDelete || (await isWanted(question));
  }

  private readonly _model: TableModel;
  private readonly _leave: () => void;
  private _follow: IDisposable | null = null;
}
