/**
 * Return a text as Python's `repr` writes it, so that a sentence that is made here equals the
 * one that Python makes.
 */
export function pythonRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`);
  return `${quote}${escaped}${quote}`;
}

/**
 * Return a number with three significant digits, as Python's format `.3g` writes it.
 */
export function pythonShort(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential(2).split('e');
  const size = Number(exponent);
  if (size < -4 || size >= 3) {
    const sign = size < 0 ? '-' : '+';
    const power = String(Math.abs(size)).padStart(2, '0');
    return `${Number(digits)}e${sign}${power}`;
  }
  return String(Number(value.toPrecision(3)));
}
