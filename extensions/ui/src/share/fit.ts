/**
 * Returns how wide a text is, in CSS pixels.
 */
export type Measure = (text: string) => number;

const MORE = '…';

/**
 * Return a text that is at most so wide, with an ellipsis where something is left out.
 */
export function cut(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) {
    return text;
  }
  const letters = Array.from(text);
  let [fits, not] = [0, letters.length];
  while (fits + 1 < not) {
    const middle = (fits + not) >> 1;
    const isFit = measure(shortened(letters, middle)) <= width;
    [fits, not] = isFit ? [middle, not] : [fits, middle];
  }
  return shortened(letters, fits);
}

/**
 * Return a text as lines that are at most so wide; the last one ends with an ellipsis where
 * something is left out.
 */
export function wrapped(
  text: string,
  width: number,
  mostLines: number,
  measure: Measure
): string[] {
  const lines: string[] = [];
  let words = text.split(/\s+/u).filter(word => word !== '');
  while (words.length > 0 && lines.length < mostLines) {
    const isLast = lines.length === mostLines - 1;
    const number = isLast ? words.length : numFitting(words, width, measure);
    lines.push(cut(words.slice(0, number).join(' '), width, measure));
    words = words.slice(number);
  }
  return lines;
}

/**
 * Return how many words fit on a line; one at least, which is cut then.
 */
function numFitting(
  words: readonly string[],
  width: number,
  measure: Measure
): number {
  let number = 1;
  while (
    number < words.length &&
    measure(words.slice(0, number + 1).join(' ')) <= width
  ) {
    number += 1;
  }
  return number;
}

function shortened(letters: readonly string[], length: number): string {
  return letters.slice(0, length).join('').trimEnd() + MORE;
}
