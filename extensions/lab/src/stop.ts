import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { Kind } from './connection/row.js';
import { showRefusal } from './refusal.js';
import type { Texts } from './texts.js';
import type { IStream } from './tokens.js';

/**
 * Stop a run or a comparison.
 *
 * @param mustAsk - Whether the user is asked first.
 */
export async function stop(
  stream: IStream,
  texts: Texts,
  what: { readonly name: string; readonly kind: Kind },
  mustAsk: boolean
): Promise<void> {
  if (mustAsk && !(await isWanted(texts, what.name))) {
    return;
  }
  const path = `${what.kind}s/${encodeURIComponent(what.name)}/stop`;
  try {
    await stream.request(path, {});
  } catch (error) {
    await showRefusal(texts.__('%1 could not be stopped', what.name), error);
  }
}

async function isWanted(texts: Texts, name: string): Promise<boolean> {
  const { button } = await showDialog({
    title: texts.__('Stop %1?', name),
    body: texts.__(
      'All its processes end, here and on other machines. It cannot go on afterwards.'
    ),
    buttons: [
      Dialog.cancelButton({ label: texts.__('Keep it running') }),
      Dialog.warnButton({ label: texts.__('Stop it') })
    ]
  });
  return button.accept;
}
