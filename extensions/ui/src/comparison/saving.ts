import { h } from '../dom.js';

/**
 * A button that saves a text as a file, made in the browser.
 *
 * @param words - On the button.
 * @param file - Name of the file.
 * @param text - Returns the text; empty: there is nothing to save yet.
 */
export function saveButton(
  words: string,
  file: string,
  text: () => string
): HTMLButtonElement {
  return h(
    'button',
    {
      type: 'button',
      onclick: () => {
        const blob = new Blob([text()], { type: 'application/json' });
        const address = URL.createObjectURL(blob);
        h('a', { href: address, download: file }).click();
        URL.revokeObjectURL(address);
      }
    },
    words
  );
}
