import texts from '../../../tests/fixtures/hostile_texts.json';

/**
 * Texts that attack whoever shows them, the same as `tests.kit.hostile`.
 */
export const HOSTILE: readonly string[] = texts;

/**
 * The tags of an element's children, and their attributes, which begin with `@`.
 */
export function markupOf(root: Element): Set<string> {
  const found = new Set<string>();
  for (const element of root.querySelectorAll('*')) {
    found.add(element.tagName.toLowerCase());
    for (const name of element.getAttributeNames()) {
      found.add(`@${name}`);
    }
  }
  return found;
}
