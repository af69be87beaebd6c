import { LOCAL, type Catalog, type IInstanceType } from '@smtc-lab/protocol';

/**
 * One line of the list: a type of the catalog, or this machine, of which nothing is known.
 */
export interface IChoice {
  readonly name: string;

  /**
   * Null: this machine.
   */
  readonly type: IInstanceType | null;
}

/**
 * What the list is narrowed to. Null: no limit.
 */
export interface IFilters {
  readonly minVcpus: number | null;
  readonly maxVcpus: number | null;
  readonly minMemoryGib: number | null;
  readonly maxMemoryGib: number | null;
  readonly minUsd: number | null;
  readonly maxUsd: number | null;

  /**
   * Empty: any or none; `none`, `any`, or the name of one.
   */
  readonly accelerator: string;
}

/**
 * No limits.
 */
export const NO_FILTERS: IFilters = {
  minVcpus: null,
  maxVcpus: null,
  minMemoryGib: null,
  maxMemoryGib: null,
  minUsd: null,
  maxUsd: null,
  accelerator: ''
};

/**
 * A column by which the list can be sorted.
 */
export type Column =
  | 'name'
  | 'vcpus'
  | 'memory'
  | 'accelerator'
  | 'network'
  | 'price';

/**
 * How the list is sorted; null: the best match first, else as in the price list.
 */
export interface IOrder {
  readonly column: Column;
  readonly isDescending: boolean;
}

/**
 * What a search found.
 */
export interface IFound {
  readonly choices: readonly IChoice[];

  /**
   * Whether nothing matches the words, and these are the nearest.
   */
  readonly isNear: boolean;
}

/**
 * Return all that can be chosen, this machine first.
 */
export function choicesOf(catalog: Catalog): readonly IChoice[] {
  const types = [...catalog.values()].map(type => ({ name: type.name, type }));
  return [{ name: LOCAL, type: null }, ...types];
}

/**
 * Return what matches the filters and every word of a query, best matches first.
 *
 * A word matches the name, the accelerator, `gpu` or `cpu`, without regard to punctuation. Where
 * nothing matches, words with a letter or two wrong do.
 */
export function search(
  choices: readonly IChoice[],
  query: string,
  filters: IFilters
): IFound {
  const kept = choices.filter(choice => passes(choice.type, filters));
  const words = query.split(/\s+/).map(plain).filter(Boolean);
  const exact = ranked(kept, words, exactRank);
  if (exact.length > 0 || words.length === 0) {
    return { choices: exact, isNear: false };
  }
  return { choices: ranked(kept, words, nearRank), isNear: true };
}

/**
 * Return choices sorted by a column, unknown values last.
 */
export function sorted(
  choices: readonly IChoice[],
  order: IOrder | null
): readonly IChoice[] {
  if (order === null) {
    return choices;
  }
  const sign = order.isDescending ? -1 : 1;
  return [...choices].sort((one, other) => {
    const [a, b] = [valueIn(one, order.column), valueIn(other, order.column)];
    if (a === null || b === null) {
      return Number(a === null) - Number(b === null);
    }
    return (
      sign *
      (typeof a === 'number' && typeof b === 'number'
        ? a - b
        : String(a).localeCompare(String(b), 'en', { numeric: true }))
    );
  });
}

function valueIn(choice: IChoice, column: Column): string | number | null {
  const { type } = choice;
  switch (column) {
    case 'name':
      return choice.name;
    case 'vcpus':
      return type?.vcpus ?? null;
    case 'memory':
      return type?.memoryGib ?? null;
    case 'accelerator':
      return type?.accelerator == null
        ? null
        : `${type.accelerator} ${type.acceleratorCount}`;
    case 'network':
      return type?.networkGbps ?? null;
    case 'price':
      return type?.price?.usdPerHour ?? null;
  }
}

function passes(type: IInstanceType | null, filters: IFilters): boolean {
  const { accelerator } = filters;
  const name = type?.accelerator ?? null;
  return (
    isWithin(type?.vcpus, filters.minVcpus, filters.maxVcpus) &&
    isWithin(type?.memoryGib, filters.minMemoryGib, filters.maxMemoryGib) &&
    isWithin(type?.price?.usdPerHour, filters.minUsd, filters.maxUsd) &&
    (accelerator === '' ||
      (accelerator === 'none' && type !== null && name === null) ||
      (accelerator === 'any' && name !== null) ||
      accelerator === name)
  );
}

/**
 * Whether a value is within limits; one that is not known is within no limit.
 */
function isWithin(
  value: number | undefined,
  min: number | null,
  max: number | null
): boolean {
  if (min === null && max === null) {
    return true;
  }
  return (
    value !== undefined &&
    (min === null || value >= min) &&
    (max === null || value <= max)
  );
}

function ranked(
  choices: readonly IChoice[],
  words: readonly string[],
  rank: (choice: IChoice, word: string) => number
): readonly IChoice[] {
  return choices
    .map(choice => {
      const ranks = words.map(word => rank(choice, word));
      return { choice, worst: Math.max(0, ...ranks) };
    })
    .filter(({ worst }) => worst < Infinity)
    .sort((one, other) => one.worst - other.worst)
    .map(({ choice }) => choice);
}

/**
 * 0: the name begins with the word; 1: the name holds it; 2: something else holds it.
 */
function exactRank(choice: IChoice, word: string): number {
  const [name = '', ...others] = texts(choice);
  if (name.startsWith(word)) {
    return 0;
  }
  if (name.includes(word)) {
    return 1;
  }
  return others.some(text => text.includes(word)) ? 2 : Infinity;
}

/**
 * The number of wrong letters: at most 1 in a short word, 2 in one of seven letters or more.
 */
function nearRank(choice: IChoice, word: string): number {
  const most = word.length < 3 ? 0 : word.length < 7 ? 1 : 2;
  const least = Math.min(...texts(choice).map(text => distance(word, text)));
  return least <= most ? least : Infinity;
}

function texts({ name, type }: IChoice): readonly string[] {
  if (type === null) {
    return [plain(name), 'thismachine'];
  }
  const kind = type.accelerator?.startsWith('NVIDIA') === true ? 'gpu' : '';
  return [
    plain(name),
    plain(type.accelerator ?? ''),
    type.accelerator === null ? 'cpu' : kind
  ];
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/^ml(\.|$)/, '')
    .replaceAll(/[^a-z0-9]/g, '');
}

/**
 * Return how many letters of a word must change for it to stand somewhere in a text.
 */
function distance(word: string, text: string): number {
  // Sellers' algorithm: a row of zeros lets the word begin anywhere
  let row = new Array<number>(text.length + 1).fill(0);
  for (let i = 1; i <= word.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= text.length; j += 1) {
      const change = word[i - 1] === text[j - 1] ? 0 : 1;
      next.push(
        Math.min(
          (row[j - 1] ?? 0) + change,
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1
        )
      );
    }
    row = next;
  }
  return Math.min(...row);
}
