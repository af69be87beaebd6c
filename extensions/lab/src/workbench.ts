import type { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { COMMANDS } from './commands.js';
import type { IRow } from '@smtc-lab/protocol';
import { keyOf, type Kind } from './connection/row.js';
import type { Dashboard } from './dashboard/dashboard.js';
import type { ILabSettings } from './settings.js';
import type { Texts } from './texts.js';
import type { TablePanel } from './table/panel.js';
import { IStream, type ILab } from './tokens.js';

/**
 * What the workbench needs of JupyterLab.
 */
export interface IWorkbenchOptions {
  readonly app: JupyterFrontEnd;
  readonly texts: Texts;

  /**
   * Return the settings as they are now.
   */
  readonly settings: () => ILabSettings;
}

/**
 * Opens, stops and deletes runs and comparisons, and knows their dashboards.
 */
export class Workbench implements ILab {
  constructor(private readonly _options: IWorkbenchOptions) {}

  selected: IRow | null = null;

  async open(name: string, kind: Kind): Promise<void> {
    const { app, texts, settings } = this._options;
    const { Dashboard } = await import('./dashboard/load.js');
    const stream = await app.resolveRequiredService(IStream);
    const key = keyOf({ name, kind });
    let dashboard = this._dashboards.find(widget => keyOf(widget) === key);
    if (dashboard === undefined) {
      dashboard = new Dashboard(stream, name, kind, texts);
      void this._dashboards.add(dashboard);
      app.shell.add(dashboard, 'main', {
        mode: settings().dashboardMode,
        type: 'smtc-lab'
      });
    }
    app.shell.activateById(dashboard.id);
  }

  async showTable(): Promise<void> {
    const { app } = this._options;
    const { TablePanel } = await import('./table/panel.js');
    const stream = await app.resolveRequiredService(IStream);
    if (this._table === null || this._table.isDisposed) {
      this._table = new TablePanel({ ...this._options, lab: this, stream });
      app.shell.add(this._table, 'main', { type: 'smtc-lab' });
    }
    app.shell.activateById(this._table.id);
  }

  async stop(name: string, kind: Kind): Promise<void> {
    const { app, texts, settings } = this._options;
    const { stop } = await import('./dashboard/load.js');
    const stream = await app.resolveRequiredService(IStream);
    await stop(stream, texts, { name, kind }, settings().confirmStop);
  }

  async share(name: string, kind: Kind): Promise<void> {
    const { app, texts } = this._options;
    const { share } = await import('./dashboard/load.js');
    const stream = await app.resolveRequiredService(IStream);
    await share(stream, texts, { name, kind });
  }

  async delete(name: string, kind: Kind): Promise<void> {
    const { app, texts, settings } = this._options;
    const { deleteRun } = await import('./dashboard/load.js');
    const stream = await app.resolveRequiredService(IStream);
    const isDeleted = await deleteRun(
      stream,
      texts,
      { name, kind },
      settings().confirmDelete
    );
    if (isDeleted) {
      const key = keyOf({ name, kind });
      this._dashboards.find(widget => keyOf(widget) === key)?.dispose();
    }
  }

  /**
   * Open again what was open when the page was left.
   */
  restore(restorer: ILayoutRestorer): void {
    void restorer.restore(this._dashboards, {
      command: COMMANDS.open,
      args: ({ name, kind }) => ({ name, kind }),
      name: keyOf
    });
  }

  private _table: TablePanel | null = null;
  private readonly _dashboards = new WidgetTracker<Dashboard>({
    namespace: 'smtc-lab'
  });
}
