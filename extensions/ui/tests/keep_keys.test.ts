import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepKeys } from '../src/keep_keys.js';

let reached: string[] = [];
let input: HTMLInputElement;

// As Lumino does: in the capture phase of the document, by a mark of the focused element.
document.addEventListener(
  'keydown',
  event => {
    const target = event.target as HTMLElement;
    if (!target.hasAttribute('data-lm-suppress-shortcuts')) {
      reached.push(event.key);
    }
  },
  { capture: true }
);

beforeEach(() => {
  reached = [];
  const view = document.createElement('div');
  input = document.createElement('input');
  view.append(input);
  view.addEventListener('focusin', keepKeys);
  document.body.replaceChildren(view);
  input.focus();
});

afterEach(() => {
  input.blur();
});

function press(key: string, held: KeyboardEventInit = {}): void {
  const target = document.activeElement ?? document.body;
  const options = { key, bubbles: true, ...held };
  target.dispatchEvent(new KeyboardEvent('keydown', options));
}

it('keeps plain keys from the notebook', () => {
  for (const key of ['d', 'D', 'Enter', 'ArrowUp', 'Escape']) {
    press(key, { shiftKey: key === 'D' });
  }

  expect(reached).toEqual([]);
});

it('lets the keys of the application go on', () => {
  press('s', { ctrlKey: true });
  press('s', { metaKey: true });
  press('C', { ctrlKey: true, shiftKey: true });

  expect(reached).toEqual(['s', 's', 'C']);
});

it('keeps the keys that edit a text', () => {
  for (const key of ['a', 'c', 'v', 'x', 'y', 'z', 'Enter', 'ArrowLeft']) {
    press(key, { ctrlKey: true });
  }
  press('Z', { ctrlKey: true, shiftKey: true });
  press('@', { ctrlKey: true, altKey: true, modifierAltGraph: true });

  expect(reached).toEqual([]);
});

it('keeps nothing once something else has the focus', () => {
  press('d');
  input.blur();
  press('d');

  expect(reached).toEqual(['d']);
});
