import { LOCAL, pythonRepr, type Catalog } from '@smtc-lab/protocol';
import { choicesOf, NO_FILTERS, search } from './search.js';

const MOST_NEAR = 3;

/**
 * Return the instance type that a text names, whatever its case and without `ml.` too; what names
 * none is the text itself.
 */
export function typedType(text: string, catalog: Catalog): string {
  const typed = text.trim();
  const plain = typed.toLowerCase();
  return (
    [typed, plain, `ml.${plain}`].find(name => isKnown(name, catalog)) ?? typed
  );
}

/**
 * Whether something of that name can be chosen.
 */
export function isKnown(name: string, catalog: Catalog): boolean {
  return name === LOCAL || catalog.has(name);
}

/**
 * Return what is wrong with the name of an instance type, with the nearest ones, as Python says it.
 */
export function typeProblems(
  name: string,
  catalog: Catalog
): readonly string[] {
  if (isKnown(name, catalog)) {
    return [];
  }
  const near = search(choicesOf(catalog), name, NO_FILTERS)
    .choices.slice(0, MOST_NEAR)
    .map(choice => choice.name);
  const remedy =
    near.length > 0
      ? `Did you mean ${near.join(', or ')}?`
      : "Write for example 'ml.c5.9xlarge', or 'local' for this machine.";
  return [
    `Instance type ${pythonRepr(name.slice(0, 80))} is not one of the ${catalog.size} ` +
      `SageMaker training types. ${remedy}`
  ];
}

/**
 * Call something once the click of a mouse button that is down has found what it is on, and
 * before that hears of it: nothing may move under the pointer until then.
 */
export function atClick(act: () => void): void {
  const ends = new AbortController();
  const options = { capture: true, signal: ends.signal };
  const finish = (): void => {
    if (!ends.signal.aborted) {
      ends.abort();
      act();
    }
  };
  document.addEventListener('click', finish, options);
  for (const name of ['mouseup', 'dragend']) {
    // a click, if there is one, comes in the same task
    document.addEventListener(name, () => setTimeout(finish), options);
  }
}
