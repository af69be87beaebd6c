import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { version } from '../package.json';
import type { Stream } from './connection/stream.js';
import { DOMAIN } from './language.js';
import { IStream } from './tokens.js';

const HIDDEN_MS = 30_000;

/**
 * The connection to the server extension. Its code is loaded when somebody asks for
 * it, and the WebSocket opens when something is watched.
 */
export const stream: JupyterFrontEndPlugin<IStream> = {
  id: '@smtc-lab/lab:stream',
  description: 'The connection of this browser tab to the runs of the server',
  autoStart: false,
  provides: IStream,
  optional: [ITranslator],
  activate: async (app, translator: ITranslator | null) => {
    const { openSocket, request, Stream } = await import(
      './connection/load.js'
    );
    const settings = app.serviceManager.serverSettings;
    const made = new Stream({
      request: (path, body) => request(settings, path, body),
      openSocket: () => openSocket(settings),
      version,
      texts: (translator ?? nullTranslator).load(DOMAIN)
    });
    sleepWhileHidden(made);
    window.addEventListener('online', () => {
      made.connect();
    });
    return made;
  }
};

function sleepWhileHidden(made: Stream): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) {
      timer = setTimeout(() => {
        made.sleep();
      }, HIDDEN_MS);
    } else {
      made.wake();
    }
  });
}
