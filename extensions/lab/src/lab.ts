import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { addCommands, COMMANDS } from './commands.js';
import { runsIcon } from './icon.js';
import { DOMAIN, speak } from './language.js';
import { RunsPanel } from './panel/panel.js';
import { SETTINGS, settingsOf } from './settings.js';
import type { Texts } from './texts.js';
import { ILab, IStream } from './tokens.js';
import { Workbench } from './workbench.js';

/**
 * Runs and comparisons: the list, their dashboards, the price of all that runs.
 */
export const lab: JupyterFrontEndPlugin<ILab> = {
  id: SETTINGS,
  description: 'Training runs and comparisons beside the notebook',
  autoStart: true,
  provides: ILab,
  optional: [
    ITranslator,
    ISettingRegistry,
    ILayoutRestorer,
    ICommandPalette,
    ILauncher,
    IStatusBar
  ],
  activate: (
    app,
    translator: ITranslator | null,
    registry: ISettingRegistry | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    statusBar: IStatusBar | null
  ) => {
    const texts = (translator ?? nullTranslator).load(DOMAIN);
    speak(translator ?? nullTranslator);
    let settings: ISettingRegistry.ISettings | null = null;
    const workbench = new Workbench({
      app,
      texts,
      settings: () => settingsOf(settings)
    });
    addPanel(app, workbench, texts, restorer);
    if (restorer !== null) {
      workbench.restore(restorer);
    }
    offer(texts, palette, launcher);
    void Promise.all([registry?.load(SETTINGS), app.restored]).then(
      ([loaded = null]) => {
        settings = loaded;
        if (statusBar !== null) {
          void addPrice(app, statusBar, texts, loaded);
        }
      }
    );
    return workbench;
  }
};

function addPanel(
  app: JupyterFrontEnd,
  workbench: ILab,
  texts: Texts,
  restorer: ILayoutRestorer | null
): void {
  const panel = new RunsPanel(app, workbench, texts);
  panel.title.icon = runsIcon;
  addCommands(app, workbench, texts, panel.id);
  app.shell.add(panel, 'left', { rank: 700, type: 'smtc-lab' });
  restorer?.add(panel, panel.id);
}

function offer(
  texts: Texts,
  palette: ICommandPalette | null,
  launcher: ILauncher | null
): void {
  const category = texts.__('Training');
  for (const command of [
    COMMANDS.show,
    COMMANDS.table,
    COMMANDS.open,
    COMMANDS.stop,
    COMMANDS.share,
    COMMANDS.delete
  ]) {
    palette?.addItem({ command, category, args: { isPalette: true } });
  }
  launcher?.add({ command: COMMANDS.show, category, rank: 1 });
}

/**
 * Show what all that runs costs per hour. It is loaded once JupyterLab is up.
 */
async function addPrice(
  app: JupyterFrontEnd,
  statusBar: IStatusBar,
  texts: Texts,
  settings: ISettingRegistry.ISettings | null
): Promise<void> {
  const { PriceItem } = await import('./price_item.js');
  const stream = await app.resolveRequiredService(IStream);
  const price = new PriceItem(stream.runs, texts, () => {
    void app.commands.execute(COMMANDS.show);
  });
  statusBar.registerStatusItem(SETTINGS, {
    item: price,
    align: 'left',
    rank: 900,
    priority: 1,
    isActive: () => price.isActive,
    activeStateChanged: price.activeChanged
  });
  const follow = (): void => {
    price.want(settingsOf(settings).showPrice);
  };
  settings?.changed.connect(follow);
  follow();
}
