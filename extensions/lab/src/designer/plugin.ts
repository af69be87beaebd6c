import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  MainAreaWidget,
  WidgetTracker
} from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { JSONArray, JSONObject } from '@lumino/coreutils';
import { designerIcon } from '../icon.js';
import { COMMANDS } from '../commands.js';
import { DOMAIN } from '../language.js';
import { SETTINGS, settingsOf } from '../settings.js';
import { IStream } from '../tokens.js';
import { DesignerPanel } from './panel.js';

const ID = 'smtc-lab-designer';

/**
 * The designer: set-ups side by side, and the button that compares them, with no notebook and
 * no kernel.
 */
export const designerPlugin: JupyterFrontEndPlugin<void> = {
  id: '@smtc-lab/lab:designer',
  description: 'Compares set-ups',
  autoStart: true,
  optional: [
    ITranslator,
    ISettingRegistry,
    ILayoutRestorer,
    ICommandPalette,
    ILauncher
  ],
  activate(
    app: JupyterFrontEnd,
    translator: ITranslator | null,
    registry: ISettingRegistry | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null
  ): void {
    const texts = (translator ?? nullTranslator).load(DOMAIN);
    const caption = texts.__('Choose clusters and compilers, and compare them');
    const tracker = new WidgetTracker<MainAreaWidget<DesignerPanel>>({
      namespace: ID
    });
    const make = async (
      kept: unknown,
      running: unknown,
      undo: unknown
    ): Promise<MainAreaWidget<DesignerPanel>> => {
      const settings = await registry?.load(SETTINGS).catch(() => null);
      const content = new DesignerPanel({
        stream: await app.resolveRequiredService(IStream),
        texts,
        rounds: settingsOf(settings ?? null).rounds,
        kept: Array.isArray(kept) ? kept : null,
        running: typeof running === 'string' ? running : '',
        undo,
        keep: () => void tracker.save(panel)
      });
      const panel = new MainAreaWidget({ content });
      panel.id = ID;
      Object.assign(panel.title, {
        label: texts.__('Designer'),
        caption,
        icon: designerIcon,
        closable: true
      });
      return panel;
    };
    app.commands.addCommand(COMMANDS.design, {
      label: texts.__('Compare Clusters and Compilers'),
      icon: args => (args['isPalette'] === true ? undefined : designerIcon),
      caption,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            value: { type: 'array', description: 'Set-ups' },
            running: { type: 'string', description: 'Comparison' },
            undo: { type: 'object' },
            isPalette: { type: 'boolean' }
          }
        }
      },
      execute: async args => {
        const panel =
          tracker.currentWidget ??
          (await make(args['value'], args['running'], args['undo']));
        if (!panel.isAttached) {
          await tracker.add(panel);
          app.shell.add(panel, 'main');
        }
        app.shell.activateById(panel.id);
      }
    });
    const category = texts.__('Training');
    palette?.addItem({
      command: COMMANDS.design,
      category,
      args: { isPalette: true }
    });
    launcher?.add({ command: COMMANDS.design, category, rank: 2 });
    void restorer?.restore(tracker, {
      command: COMMANDS.design,
      args: ({ content }) => ({
        value: content.value as JSONArray,
        running: content.running,
        undo: content.undo as JSONObject | undefined
      }),
      name: () => ID
    });
  }
};
