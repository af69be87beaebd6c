import type { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, showDialog, WidgetTracker } from '@jupyterlab/apputils';
import { COMMANDS } from './commands.js';
import type { ComparedRuns } from './run_comparison.js';
import type { Texts } from './texts.js';
import { IStream, type ILab } from './tokens.js';

/**
 * Add the command that shows runs beside each other; its code is loaded when it is used.
 */
export function addComparedRuns(
  app: JupyterFrontEnd,
  lab: ILab,
  texts: Texts,
  restorer: ILayoutRestorer | null
): void {
  const tracker = new WidgetTracker<ComparedRuns>({
    namespace: 'smtc-lab-compared-runs'
  });
  app.commands.addCommand(COMMANDS.compareRuns, {
    label: texts.__('Compare Runs'),
    caption: texts.__('Show several runs beside each other'),
    execute: async args => {
      const names = namesOf(args['names'], lab);
      if (names.length < 2) {
        await showDialog({
          title: texts.__('Compare Runs'),
          body: texts.__(
            'Choose two runs or more in the table of runs, then compare them.'
          ),
          buttons: [Dialog.okButton()]
        });
        return;
      }
      const { ComparedRuns } = await import('./run_comparison.js');
      const stream = await app.resolveRequiredService(IStream);
      const key = names.join();
      let widget = tracker.find(one => one.names.join() === key);
      if (widget === undefined) {
        widget = new ComparedRuns(stream, names, texts);
        void tracker.add(widget);
        app.shell.add(widget, 'main', { type: 'smtc-lab' });
      }
      app.shell.activateById(widget.id);
    }
  });
  void restorer?.restore(tracker, {
    command: COMMANDS.compareRuns,
    args: ({ names }) => ({ names: [...names] }),
    name: ({ names }) => names.join()
  });
}

/**
 * Return the names that are given, or that of the selected run.
 */
function namesOf(given: unknown, { selected }: ILab): readonly string[] {
  const names = Array.isArray(given) ? given : [selected?.name];
  return [...new Set(names.filter(name => typeof name === 'string'))];
}
