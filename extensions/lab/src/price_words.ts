import type { Texts } from './texts.js';

/**
 * Return a price of what goes on with what it means: that it is billed, or what it would cost.
 *
 * @param price - As it is written: `$3.50/h`.
 * @param isBilled - Whether somebody is billed for it; null: nobody knows.
 */
export function priceWords(
  price: string,
  isBilled: boolean | null,
  texts: Texts
): string {
  if (isBilled === null) {
    return price;
  }
  return isBilled
    ? texts.__('%1 is billed', price)
    : texts.__('would cost %1', price);
}
