import type { IComparedRun, IRunComparison } from '@smtc-lab/protocol';
import type { Unit } from '../charts/options.js';
import { mark, t } from '../i18n.js';
import { letterOf } from '../picture/set_up_mark.js';
import { h, newId } from '../dom.js';

const MOST_NAMED = 4;
const LETTERS = 26;
const PREFIX = /^(?:hyperparameters|arguments)\./;
const METRIC = /^metric\.(.*?)(\.min|\.max)?$/s;

/**
 * Numbers that every run may have, what they are called, and their units.
 */
export const QUANTITIES: ReadonlyMap<string, readonly [string, Unit]> = new Map(
  [
    ['cost_usd', [mark('cost'), 'USD']],
    ['took_s', [mark('time taken'), 's']],
    ['step_time_s', [mark('step time'), 's']],
    ['steps', [mark('steps'), 'count']],
    ['usd_per_hour', [mark('price per hour'), 'USD']]
  ]
);

/**
 * Return the letter of a run among those that are compared.
 */
export function runLetter(place: number): string {
  const round = Math.floor(place / LETTERS);
  return `${letterOf(place)}${round === 0 ? '' : round}`;
}

/**
 * Return letter and short name of a run.
 */
export function runWords({ label }: IComparedRun, place: number): string {
  return `${runLetter(place)} ${label}`;
}

/**
 * Return letters of runs as a list.
 */
export function letters(
  { runs }: IRunComparison,
  which: (run: IComparedRun) => boolean
): string {
  return runs
    .flatMap((run, place) => (which(run) ? [runLetter(place)] : []))
    .join(', ');
}

/**
 * Return what differs without where it is declared.
 */
export function shortName(name: string): string {
  return name.replace(PREFIX, '');
}

/**
 * Say how many runs these are, and in what they differ in short.
 */
export function sentence(compared: IRunComparison): string {
  const { runs, differences, numLeftOut } = compared;
  const all = [...new Set(differences.map(({ name }) => shortName(name)))];
  const names = all.slice(0, MOST_NAMED);
  const more = all.length - names.length + numLeftOut;
  if (names.length === 0) {
    return t('%1 runs; nothing is known to differ.', runs.length);
  }
  const parts = more > 0 ? [...names, t('%1 more', more)] : names;
  const last = parts.pop() ?? '';
  const told =
    parts.length === 0 ? last : t('%1 and %2', parts.join(', '), last);
  return t('%1 runs; they differ in %2.', runs.length, told);
}

/**
 * Return what a number of the facts is called, and its unit.
 */
export function quantity(name: string): readonly [string, Unit] {
  const known = QUANTITIES.get(name);
  if (known !== undefined) {
    return [t(known[0]), known[1]];
  }
  const [, metric, which] = METRIC.exec(name) ?? [];
  if (metric === undefined) {
    return [name.replace(/^param\./, ''), 'number'];
  }
  const words = {
    '.min': t('%1, least', metric),
    '.max': t('%1, greatest', metric)
  };
  const told = words[which as keyof typeof words] as string | undefined;
  return [told ?? t('%1, last', metric), 'number'];
}

/**
 * A choice with its label.
 */
export class Choice {
  readonly element: HTMLElement;

  constructor(label: string, onChange: () => void) {
    const id = newId();
    this._select = h('select', { id, onchange: onChange });
    this.element = h(
      'span',
      { class: 'smtc-field' },
      h('label', { for: id }, label),
      this._select
    );
  }

  /**
   * Offer values with what they are called; what is chosen stays, if it is among them.
   *
   * @param usual - What is chosen at first.
   */
  offer(options: readonly (readonly [string, string])[], usual = ''): void {
    const chosen = this._select.options.length > 0 ? this.value : usual;
    this._select.replaceChildren(
      ...options.map(([value, words]) => h('option', { value }, words))
    );
    const isThere = options.some(([value]) => value === chosen);
    this._select.value = isThere ? chosen : (options[0]?.[0] ?? '');
  }

  get value(): string {
    return this._select.value;
  }

  private readonly _select: HTMLSelectElement;
}
