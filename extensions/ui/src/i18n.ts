/**
 * Returns a text in the user's language, `%1`, `%2`, … replaced by values. JupyterLab's
 * translation bundles are such functions.
 */
export type Translate = (
  text: string,
  ...values: readonly (string | number)[]
) => string;

let translate: Translate = inEnglish;

/**
 * Show texts in a language from now on: what is shown already stays.
 */
export function setLanguage(given: Translate): void {
  translate = given;
}

/**
 * Return a text of ours in the user's language. Never give it data: names and messages of
 * users are shown as they are.
 *
 * @param text - In English; `locale/` has its translations.
 * @param values - What `%1`, `%2`, … stand for.
 */
export function t(
  text: string,
  ...values: readonly (string | number)[]
): string {
  return translate(text, ...values);
}

function inEnglish(
  text: string,
  ...values: readonly (string | number)[]
): string {
  return text.replace(/%(\d)/g, (whole, digit: string) =>
    String(values[Number(digit) - 1] ?? whole)
  );
}

/**
 * Mark a text that is written down before a language is known: `t` is called where it is shown.
 */
export function mark<T extends string>(text: T): T {
  return text;
}
