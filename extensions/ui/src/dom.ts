import { plainText } from '@smtc-lab/protocol';

/**
 * Attributes, properties and listeners of an element. `on…` takes a listener, `class` the
 * classes; true sets an empty attribute, and false, null and undefined set nothing.
 */
export type Attributes = Readonly<
  Record<string, string | number | boolean | null | undefined | Listener>
>;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each event has a type of its own
type Listener = (event: any) => void;

/**
 * Make an element. Texts are text nodes, never markup, so that no name can become code, and hold
 * no character that a reader would obey.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name.replace(/^on/, ''), value);
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, shownValue(name, value));
    }
  }
  element.append(
    ...children
      .filter(child => child !== null)
      .map(child => (typeof child === 'string' ? plainText(child) : child))
  );
  return element;
}

/**
 * Return the value of an attribute: plain where people read it, exact where a form holds it.
 */
function shownValue(name: string, value: string | number): string {
  return typeof value === 'string' && READ.test(name)
    ? plainText(value)
    : String(value);
}

const READ = /^(?:aria-|alt$|label$|placeholder$|title$)/;

/**
 * Make a button.
 *
 * @param words - On it.
 * @param more - Further attributes.
 */
export function button(
  words: string,
  onclick: () => unknown,
  more: Attributes = {}
): HTMLButtonElement {
  return h('button', { type: 'button', onclick, ...more }, words);
}

/**
 * Copy a text; where the page has no clipboard, as one that is not served safely, select the
 * element for the user to copy.
 *
 * @returns Whether it was copied.
 */
export async function copied(text: string, from: Node): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    from.ownerDocument?.getSelection()?.selectAllChildren(from);
    return false;
  }
}

let numIds = 0;

/**
 * Return an id that no other element of the page has, for labels and descriptions.
 */
export function newId(): string {
  numIds += 1;
  // several copies of this module may live in one page, one for each widget
  return `smtc-${Math.random().toString(36).slice(2, 8)}-${numIds}`;
}
