import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import {
  answerInsertEvents,
  insertCell,
  runCell,
  WORKBENCH_CELL
} from './cells.js';
import { COMMANDS, meant } from './commands.js';
import { DOMAIN, speak } from './language.js';
import type { Texts } from './texts.js';
import { ILab } from './tokens.js';

/**
 * Inserts the cell that shows the workbench; the notebook's toolbar has a button for it.
 */
export const INSERT_WORKBENCH = 'smtc-lab:insert-workbench';

/**
 * What the extension does to notebooks. Does without our server extension.
 */
export const cellsPlugin: JupyterFrontEndPlugin<void> = {
  id: '@smtc-lab/lab:cells',
  description: 'Puts cells of runs and forms into notebooks',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ILab, ITranslator, ICommandPalette],
  activate(
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    lab: ILab | null,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ): void {
    const texts = (translator ?? nullTranslator).load(DOMAIN);
    speak(translator ?? undefined);
    answerInsertEvents(notebooks);
    if (lab !== null) {
      addInsertRun(app, { lab, notebooks, texts });
    }
    app.commands.addCommand(INSERT_WORKBENCH, {
      label: args =>
        args['toolbar'] === true
          ? texts.__('Workbench')
          : texts.__('Insert the Workbench as a Cell'),
      caption: texts.__(
        'Insert a cell that compares clusters and compilers, below this one'
      ),
      describedBy: {
        args: { type: 'object', properties: { toolbar: { type: 'boolean' } } }
      },
      isEnabled: () => notebooks.currentWidget !== null,
      execute: () => insertCell(notebooks, WORKBENCH_CELL)
    });
    notebooks.currentChanged.connect(() => {
      app.commands.notifyCommandChanged(INSERT_WORKBENCH);
      app.commands.notifyCommandChanged(COMMANDS.insert);
    });
    palette?.addItem({
      command: INSERT_WORKBENCH,
      category: texts.__('Training')
    });
  }
};

/**
 * Add the command that inserts the cell of a run; without arguments, of the selected one.
 */
function addInsertRun(
  app: JupyterFrontEnd,
  options: {
    readonly lab: ILab;
    readonly notebooks: INotebookTracker;
    readonly texts: Texts;
  }
): void {
  const { lab, notebooks, texts } = options;
  app.commands.addCommand(COMMANDS.insert, {
    label: texts.__('Insert Run as a Cell'),
    caption: texts.__('Insert a cell that shows the selected run'),
    isEnabled: args =>
      notebooks.currentWidget !== null && meant(args, lab) !== null,
    execute: args => {
      const what = meant(args, lab);
      return (
        what !== null && insertCell(notebooks, runCell(what.name, what.kind))
      );
    }
  });
}
