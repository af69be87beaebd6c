import { Notification } from '@jupyterlab/apputils';
import { objectOf, textField } from '@smtc-lab/protocol';
import { isWanted, type IQuestion } from './asked.js';
import type { Kind } from './connection/row.js';
import { showRefusal } from './refusal.js';
import type { Texts } from './texts.js';
import type { IStream } from './tokens.js';

const SHOWN_MS = 20_000;

/**
 * Delete a run or a comparison that has ended. What is left to undo it stands among the
 * notifications of the page for as long as that lives.
 *
 * @param mustAsk - Whether the user is asked first.
 * @returns Whether it is deleted.
 */
export async function deleteRun(
  stream: IStream,
  texts: Texts,
  what: { readonly name: string; readonly kind: Kind },
  mustAsk: boolean
): Promise<boolean> {
  const { name, kind } = what;
  if (mustAsk && !(await isWanted(questionOf(texts, what)))) {
    return false;
  }
  let id: string;
  try {
    const path = `${kind}s/${encodeURIComponent(name)}/delete`;
    id = textField(objectOf(await stream.request(path, {}), 'Deletion'), 'id');
  } catch (error) {
    await showRefusal(texts.__('%1 could not be deleted', name), error);
    return false;
  }
  Notification.info(texts.__('%1 is deleted, for good in a day.', name), {
    autoClose: SHOWN_MS,
    actions: [
      {
        label: texts.__('Undo'),
        caption: texts.__('Put %1 back', name),
        callback: () => void undo(stream, texts, name, id)
      }
    ]
  });
  return true;
}

async function undo(
  stream: IStream,
  texts: Texts,
  name: string,
  id: string
): Promise<void> {
  try {
    await stream.request(`deletions/${id}/undo`, {});
  } catch (error) {
    await showRefusal(texts.__('%1 could not be put back', name), error);
  }
}

function questionOf(
  texts: Texts,
  { name, kind }: { readonly name: string; readonly kind: Kind }
): IQuestion {
  return {
    title: texts.__('Delete %1?', name),
    body:
      kind === 'run'
        ? texts.__(
            'Its records, logs and checkpoints on this machine go. You can undo it while this page is open, for a day at most.'
          )
        : texts.__(
            'Its result and the runs of all its launches on this machine go. You can undo it while this page is open, for a day at most.'
          ),
    keep: texts.__('Keep it'),
    act: texts.__('Delete it')
  };
}
