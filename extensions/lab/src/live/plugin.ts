import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { ITranslator } from '@jupyterlab/translation';
import { IStream } from '../tokens.js';
import { DeferredOutput } from './deferred_output.js';
import { answerFollowEvents } from './follow_events.js';
import { LIVE_MIME, TABLE_MIME } from './mimes.js';

/**
 * Before the widget of the kernel, which has -10.
 */
const RANK = -20;

/**
 * What goes on in a notebook is shown whatever becomes of its kernel.
 */
export const livePlugin: JupyterFrontEndPlugin<void> = {
  id: '@smtc-lab/lab:live',
  description: 'Shows what goes on when its kernel cannot tell',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator],
  activate(
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    translator: ITranslator | null
  ): void {
    const connect = (): Promise<IStream> => app.resolveRequiredService(IStream);
    answerFollowEvents(connect);
    const add = (panel: NotebookPanel): void => {
      panel.content.rendermime.addFactory(
        {
          safe: true,
          mimeTypes: [LIVE_MIME, TABLE_MIME],
          createRenderer: () =>
            new DeferredOutput(async () => {
              const { liveOutput } = await import('./live_output.js');
              return liveOutput(panel, translator, connect);
            })
        },
        RANK
      );
    };
    notebooks.forEach(add);
    notebooks.widgetAdded.connect((_, panel) => {
      add(panel);
    });
  }
};
