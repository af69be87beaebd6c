import type { Kind } from './connection/row.js';
import { objectOf, textField } from '@smtc-lab/protocol';
import { showRefusal } from './refusal.js';
import type { Texts } from './texts.js';
import type { IStream } from './tokens.js';

/**
 * Save a run or a comparison as one HTML file, where the browser keeps what it downloads.
 */
export async function share(
  stream: IStream,
  texts: Texts,
  what: { readonly name: string; readonly kind: Kind }
): Promise<void> {
  const path = `${what.kind}s/${encodeURIComponent(what.name)}/page`;
  let html: string;
  try {
    html = textField(objectOf(await stream.request(path), 'Page'), 'html');
  } catch (error) {
    await showRefusal(texts.__('%1 could not be shared', what.name), error);
    return;
  }
  const url = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${what.name}.html`;
  link.click();
  URL.revokeObjectURL(url);
}
