import type { Kind } from './connection/row.js';
import type { Texts } from './texts.js';

/**
 * Return what a row of the list says of its kind; null: it is a run, as most are.
 */
export function kindWord(kind: Kind, texts: Texts): string | null {
  if (kind === 'run') {
    return null;
  }
  if (kind === 'scaling') {
    return texts.__('Scaling');
  }
  return kind === 'comparison' ? texts.__('Comparison') : kind;
}

/**
 * Return a name with the word for its kind.
 */
export function kindCaption(kind: Kind, name: string, texts: Texts): string {
  if (kind === 'run') {
    return texts.__('Training run %1', name);
  }
  return kind === 'comparison'
    ? texts.__('Comparison %1', name)
    : texts.__('Study %1', name);
}
