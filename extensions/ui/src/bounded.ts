import { plainText } from '@smtc-lab/protocol';
import { h } from './dom.js';
import { t } from './i18n.js';
import { patch } from './patch.js';

const LONGEST = 500;
const KEPT = 400;
const MOST_LINES = 8;
const KEPT_LINES = 6;

/**
 * Long texts that the user has unfolded: what is drawn again shows them so.
 */
const UNFOLDED = new Set<string>();

/**
 * Return what is shown at first of a text: of a long one the begin, with whole words.
 */
export function beginOf(text: string): string {
  const lines = text.split('\n');
  const isHigh = lines.length > MOST_LINES;
  if (!isHigh && text.length <= LONGEST) {
    return text;
  }
  const few = isHigh ? lines.slice(0, KEPT_LINES).join('\n') : text;
  return few.length <= KEPT
    ? few
    : few
        .slice(0, KEPT)
        // half a word, or half a character
        .replace(/(?<=\s)\S{1,40}$|[\ud800-\udbff]$/, '')
        .trimEnd();
}

/**
 * Return a text of any length as what stands in an element: of a long one the begin, the rest, and
 * a button that shows it. This is how every text of users is shown.
 */
export function bounded(text: string): readonly (Node | string)[] {
  const plain = plainText(text);
  const begin = beginOf(plain);
  if (begin === plain) {
    return [plain];
  }
  const isOpen = UNFOLDED.has(plain);
  return [
    h('span', {}, begin),
    h('span', { hidden: !isOpen }, plain.slice(begin.length)),
    h(
      'button',
      {
        type: 'button',
        class: 'smtc-more',
        'aria-expanded': String(isOpen),
        onclick: unfold
      },
      wordsOn(isOpen)
    )
  ];
}

/**
 * Return a paragraph with a text of any length.
 */
export function paragraph(text: string, look = 'smtc-note'): HTMLElement {
  return h('p', { class: look }, ...bounded(text));
}

/**
 * Write a text of any length into an element, which may be a live region: one that stands there
 * already is left alone, as each change is spoken.
 */
export function tell(element: HTMLElement, text: string): void {
  patch(element, [...h('p', {}, ...bounded(text)).childNodes]);
}

/**
 * Write what is wrong into an element, a paragraph each; those that stand there already are left
 * alone.
 */
export function tellProblems(
  element: HTMLElement,
  texts: readonly string[]
): void {
  patch(
    element,
    texts.map(text => paragraph(text, 'smtc-problem'))
  );
}

/**
 * Show the rest of a text, or fold it. It knows no text: what is drawn anew may keep the button of
 * another one.
 */
function unfold({ currentTarget }: Event): void {
  const more = currentTarget as HTMLElement;
  const rest = more.previousElementSibling as HTMLElement;
  const text = `${rest.previousElementSibling?.textContent}${rest.textContent}`;
  const isOpen = rest.hidden;
  rest.hidden = !isOpen;
  more.textContent = wordsOn(isOpen);
  more.setAttribute('aria-expanded', String(isOpen));
  if (isOpen) {
    UNFOLDED.add(text);
  } else {
    UNFOLDED.delete(text);
  }
}

function wordsOn(isOpen: boolean): string {
  return isOpen ? t('Show less') : t('Show all');
}
