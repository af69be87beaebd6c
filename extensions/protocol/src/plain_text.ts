import { ProtocolError } from './errors.js';

const MOST_DEPTH = 100;

/**
 * What a page obeys, and what turns the order of a line round: "3.1×" into "×1.3".
 */
const OBEYED =
  // eslint-disable-next-line no-control-regex -- these are what it is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/g;

/**
 * Return a text with U+FFFD for each character that a reader would obey.
 *
 * Mirrors `smtc_lab.machine.stored_text.neutral`: Python does this to all that it tells of a
 * run, but a saved result may be anybody's.
 */
export function plainText(text: string): string {
  return text.replace(OBEYED, '\ufffd');
}

/**
 * Return a JSON value with all its texts plain, names of fields too.
 *
 * @throws {@link ProtocolError} when it is nested too deep.
 */
export function plainJson(value: unknown, depth = MOST_DEPTH): unknown {
  if (typeof value === 'string') {
    return plainText(value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth === 0) {
    throw new ProtocolError(
      `A saved result is nested more than ${MOST_DEPTH} levels deep. Save it again.`
    );
  }
  if (Array.isArray(value)) {
    return value.map(each => plainJson(each, depth - 1));
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      plainText(name),
      plainJson(each, depth - 1)
    ])
  );
}
