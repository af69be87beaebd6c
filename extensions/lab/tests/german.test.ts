import { TranslationManager } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';
import german from '../../../smtc_lab/views/locale/de_DE/LC_MESSAGES/smtc_lab.json';
import { DOMAIN } from '../src/language.js';
import { textsInSources } from './texts_in_sources.js';

const FEWEST_TRANSLATED = 0.9;

const { '': head, ...given } = german;
const translations: Readonly<Record<string, readonly string[]>> = given;
const texts = textsInSources();

function placesIn(text: string): string[] {
  return [...new Set(text.match(/%\d/g) ?? [])].sort();
}

describe('the German texts', () => {
  it('are there for nearly all that we say', () => {
    const missing = texts.filter(({ text }) => !(text in translations));

    expect(
      missing.length,
      `without German: ${missing.map(({ text }) => text).join(' | ')}`
    ).toBeLessThanOrEqual((1 - FEWEST_TRANSLATED) * texts.length);
  });

  it('translate nothing that we do not say', () => {
    const said = new Set(texts.map(({ text }) => text));

    expect(Object.keys(translations).filter(text => !said.has(text))).toEqual(
      []
    );
  });

  it('keep the place of every value', () => {
    for (const [text, translated] of Object.entries(translations)) {
      for (const one of translated) {
        expect(placesIn(one), text).toEqual(placesIn(text));
      }
    }
  });

  it('have a form for one and a form for several where we count', () => {
    for (const { text, plural } of texts) {
      const forms = translations[text]?.length ?? 0;
      expect([0, plural === null ? 1 : 2], text).toContain(forms);
    }
  });

  it('are what JupyterLab says to us when it speaks German', async () => {
    const answer = { data: { [DOMAIN]: german }, message: '' };
    const connector = { fetch: async () => Promise.resolve(answer) };
    const manager = new TranslationManager(
      '',
      '',
      undefined,
      connector as never
    );
    await manager.fetch('de_DE');

    const bundle = manager.load(DOMAIN);

    expect(head.domain).toBe(DOMAIN);
    expect(bundle.__('launch %1 of %2', 2, 6)).toBe('Start 2 von 6');
    expect(bundle._n('%1 run', '%1 runs', 1)).toBe('1 Lauf');
    expect(bundle._n('%1 run', '%1 runs', 3)).toBe('3 Läufe');
    expect(bundle.__('no such text')).toBe('no such text');
  });
});
