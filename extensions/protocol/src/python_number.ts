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
