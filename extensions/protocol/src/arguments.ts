/**
 * What is still open at the end of a text: a quote, or a backslash with nothing behind it.
 */
export type Open = "'" | '"' | '\\';

const SPACE = new Set([' ', '\t', '\r', '\n']);
const UNSAFE = /[^A-Za-z0-9_@%+=:,./-]/;

/**
 * Return the words of a text as a shell splits it, with nothing expanded; or what is still open at
 * its end. It is what Python's `shlex.split` does; both read `tests/fixtures/arguments.json`.
 */
export function splitArguments(text: string): readonly string[] | Open {
  const words: string[] = [];
  let word: string | null = null;
  let quote: Open | null = null;
  let isEscaped = false;
  for (const char of text) {
    if (isEscaped) {
      // between double quotes, a backslash before anything else stands for itself
      const isItself: boolean =
        quote !== null && char !== quote && char !== '\\';
      word = `${word ?? ''}${isItself ? '\\' : ''}${char}`;
      isEscaped = false;
    } else if (char === '\\' && quote !== "'") {
      isEscaped = true;
    } else if (char === quote) {
      quote = null;
    } else if (quote === null && (char === "'" || char === '"')) {
      quote = char;
      word ??= '';
    } else if (quote === null && SPACE.has(char)) {
      words.push(...(word === null ? [] : [word]));
      word = null;
    } else {
      word = `${word ?? ''}${char}`;
    }
  }
  if (isEscaped) {
    return '\\';
  }
  return quote ?? (word === null ? words : [...words, word]);
}

/**
 * Return words as one text that splits into them again, quoted as Python's `shlex.join` does.
 */
export function joinArguments(words: readonly string[]): string {
  return words
    .map(word =>
      word === '' || UNSAFE.test(word)
        ? `'${word.replaceAll("'", `'"'"'`)}'`
        : word
    )
    .join(' ');
}
