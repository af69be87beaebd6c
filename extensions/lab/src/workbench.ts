import type { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { COMMANDS } from './commands.js';
import type { IRow } from '@smtc-lab/protocol';
import { keyOf, type Kind } from './connection/row.js';
import type { Dashboard } from './dashboard/dashboard.js';
import type { ILabSettings } from './settings.js';
import type { Texts } from './texts.js';
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

type Loaded = typeof import('./dashboard/load.js') & {
  readonly stream: IStream;
};

/**
 * Opens, stops and deletes runs and comparisons, and knows their dashboards.
 */
export class Workbench implements ILab {
  constructor(private readonly _options: IWorkbenchOptions) {}

  selected: IRow | null = null;

  async open(name: string, kind: Kind): Promise<void> {
    const { app, texts, settings } = this._options;
    const { Dashboard, stream } = await this._loaded();
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

  async showTable(names: unknown = null): Promise<void> {
    const { showMany } = await this._loaded();
    await showMany({ ...this._options, lab: this }, names);
  }

  async stop(name: string, kind: Kind): Promise<void> {
    const { texts, settings } = this._options;
    const { stop, stream } = await this._loaded();
    await stop(stream, texts, { name, kind }, settings().confirmStop);
  }

  async share(name: string, kind: Kind): Promise<void> {
    const { share, stream } = await this._loaded();
    await share(stream, this._options.texts, { name, kind });
  }

  async delete(name: string, kind: Kind): Promise<void> {
    const { texts, settings } = this._options;
    const { deleteRun, stream } = await this._loaded();
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

  /**
   * Return what dashboards and their deeds need, which nothing needs before.
   */
  private async _loaded(): Promise<Loaded> {
    const parts = await import('./dashboard/load.js');
    const stream = await this._options.app.resolveRequiredService(IStream);
    return { ...parts, stream };
  }

  private readonly _dashboards = new WidgetTracker<Dashboard>({
    namespace: 'smtc-lab'
  });
}
