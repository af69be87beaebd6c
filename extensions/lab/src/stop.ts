import { isWanted } from './asked.js';
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
  const question = {
    title: texts.__('Stop %1?', what.name),
    body: texts.__(
      'All its processes end, here and on other machines. It cannot go on afterwards.'
    ),
    keep: texts.__('Keep it running'),
    act: texts.__('Stop it')
  };
  if (mustAsk && !(await isWanted(question))) {
    return;
  }
  const path = `${what.kind}s/${encodeURIComponent(what.name)}/stop`;
  try {
    await stream.request(path, {});
  } catch (error) {
    await showRefusal(texts.__('%1 could not be stopped', what.name), error);
  }
}
