import { afterEach, expect, it } from 'vitest';
import { setLanguage } from '../src/i18n.js';
import { messages } from '../src/monitor/messages.js';

afterEach(() => {
  setLanguage((text: string) => text);
});

it.each([
  ['warning', 'WARNING: It waits. '],
  ['note', 'NOTE: It waits. ']
] as const)(
  'say the severity %s in the language of the page',
  (severity, words) => {
    setLanguage((text: string) => text.toUpperCase());
    const finding = { severity, sentence: 'It waits.', fix: '', action: '' };
    const part = messages(() => ({ findings: [finding], notes: [] }) as never);

    part.update(null);

    expect(part.element.textContent).toBe(words);
  }
);
