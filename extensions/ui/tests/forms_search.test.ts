import { expect, it } from 'vitest';
import prices from '../../../tests/fixtures/prices.json';
import { priceDigits } from '../src/forms/price.js';
import {
  choicesOf,
  NO_FILTERS,
  search,
  sorted,
  type IFilters
} from '../src/forms/search.js';
import { catalog } from './forms_kit.js';

const choices = choicesOf(catalog);

function names(query: string, filters: Partial<IFilters> = {}): string[] {
  const found = search(choices, query, { ...NO_FILTERS, ...filters });
  return found.choices.map(choice => choice.name);
}

it('begins with this machine and goes on as the price list', () => {
  expect(names('')).toEqual(['local', ...catalog.keys()]);
});

it.each([
  ['p3', ['ml.p3.2xlarge']],
  ['ml.p3', ['ml.p3.2xlarge']],
  ['C5 9X', ['ml.c5.9xlarge']],
  ['c59x', ['ml.c5.9xlarge']],
  ['v100', ['ml.p3.2xlarge']],
  ['18xlarge', ['ml.c5.18xlarge']],
  ['this machine', ['local']],
  ['local', ['local']],
  ['quantum', []]
])('finds by %s', (query, wanted) => {
  expect(names(query)).toEqual(wanted);
});

it('puts names that begin with the word before others', () => {
  expect(names('c5')[0]).toBe('ml.c5.9xlarge');
});

it('finds what is nearly called so, where nothing is', () => {
  const found = search(choices, 'p3.2xlagre', NO_FILTERS);

  expect(found.isNear).toBe(true);
  expect(found.choices[0]?.name).toBe('ml.p3.2xlarge');
});

it('takes "ml" for the begin of every name', () => {
  expect(names('ml')).toEqual(names(''));
});

it.each([
  [{ minVcpus: 72 }, ['ml.p4d.24xlarge', 'ml.p5e.48xlarge', 'ml.c5.18xlarge']],
  [{ maxVcpus: 4 }, ['ml.m4.xlarge', 'ml.g4dn.xlarge']],
  [{ accelerator: 'NVIDIA V100' }, ['ml.p3.2xlarge']],
  [{ accelerator: 'none', maxUsd: 2 }, ['ml.m4.xlarge', 'ml.c5.9xlarge']]
])('keeps what is within %j', (filters, wanted) => {
  expect(names('', filters)).toEqual(wanted);
});

it('keeps no unknown price within a price', () => {
  const unknown = [...catalog.values()].filter(type => type.price === null);

  expect(unknown).not.toEqual([]);
  expect(names('', { minUsd: 0 })).not.toContain(unknown[0]?.name);
});

it('sorts unknown values last, upwards and downwards', () => {
  const order = { column: 'price', isDescending: false } as const;

  const up = sorted(choices, order);
  const down = sorted(choices, { ...order, isDescending: true });

  expect(up[0]?.name).toBe('ml.m4.xlarge');
  expect(up.at(-1)?.type?.price ?? null).toBeNull();
  expect(down[0]?.name).toBe('ml.p4d.24xlarge');
  expect(down.at(-1)?.type?.price ?? null).toBeNull();
});

it.each(prices)('writes a price as Python does: $text', ({ usd, text }) => {
  expect(priceDigits(usd)).toBe(text);
});
