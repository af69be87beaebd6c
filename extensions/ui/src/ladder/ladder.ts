import type {
  CompilerConfig,
  ILadderRung,
  ISetUpLadder
} from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { bounded, paragraph } from '../bounded.js';
import { h } from '../dom.js';
import { mark, t } from '../i18n.js';
import { rungBar } from './rung_bar.js';
import { whereFrom } from './words.js';

const SETTINGS: readonly (readonly [keyof CompilerConfig, string])[] = [
  ['backend', mark('Compiler')],
  ['precision', mark('Precision')],
  ['fused_optimizer', mark('Fused optimizer')],
  ['keep_memory', mark('Keep memory')],
  ['mode', mark('Mode')]
];
const MORE: readonly (readonly [keyof CompilerConfig, string])[] = [
  ['dynamic', mark('Any shape')],
  ['per_block', mark('Layer by layer')]
];

/**
 * What the ladder shows.
 */
export interface ILadder {
  /**
   * What was measured; undefined: it is being looked up.
   */
  readonly ladder: ISetUpLadder | undefined;

  /**
   * Why no answer came; empty: one did, or it is on its way.
   */
  readonly problem: string;
  readonly config: CompilerConfig | null;
}

/**
 * The compiler settings as a ladder: a rung each, with what it brought when the script was last
 * compared and what its first steps took longer.
 */
export class CompilerLadder {
  readonly element = h('div', { class: 'smtc-ladder' });

  show({ ladder, problem, config }: ILadder): void {
    const told = JSON.stringify([ladder, problem, config]);
    if (told === this._told) {
      return;
    }
    this._told = told;
    this.element.replaceChildren(
      h('h4', {}, t('What each setting brought')),
      ...parts(ladder, problem, config)
    );
  }

  private _told = '';
}

function parts(
  ladder: ISetUpLadder | undefined,
  problem: string,
  config: CompilerConfig | null
): readonly HTMLElement[] {
  const wrong = problem === '' ? (ladder?.problem ?? '') : problem;
  if (wrong !== '') {
    return [
      h('p', { class: 'smtc-problem', role: 'status' }, ...bounded(wrong))
    ];
  }
  if (ladder === undefined) {
    return [note(t('Looking for what was measured …'))];
  }
  const { rungs } = ladder;
  const most = Math.max(
    0.05,
    ...rungs.flatMap(({ savedFraction: { low, high } }) => [-low, high])
  );
  const isKnown = (setting: string): boolean =>
    rungs.some(rung => rung.setting === setting);
  const shown = [...SETTINGS, ...MORE.filter(([name]) => isKnown(name))];
  return [
    h(
      'ul',
      {},
      ...shown.map(([name, label]) =>
        item(
          t(label),
          valueOf(config, name),
          rungs.filter(rung => rung.setting === name),
          most
        )
      )
    ),
    ...(rungs.length < 1 ? [note(whatToRun())] : sources(rungs))
  ];
}

function whatToRun(): string {
  return t(
    'No setting was measured for this script with these hyperparameters. Compare two set-ups that differ in one setting, or run: smtc-lab compare SCRIPT --compiler eager,inductor --ablation'
  );
}

function note(text: string): HTMLElement {
  return h('p', { class: 'smtc-note', role: 'status' }, text);
}

/**
 * Return what a setting has now, as Python's results call it.
 */
function valueOf(
  config: CompilerConfig | null,
  name: keyof CompilerConfig
): string {
  if (config === null || !config.enabled) {
    return t('plain PyTorch');
  }
  const value = config[name];
  if (typeof value === 'boolean') {
    return value ? t('on') : t('off');
  }
  return value === null ? t('by itself') : String(value);
}

function item(
  label: string,
  value: string,
  rungs: readonly ILadderRung[],
  most: number
): HTMLElement {
  return h(
    'li',
    {},
    h(
      'div',
      { class: 'smtc-rung-head' },
      h('strong', {}, label),
      ' ',
      h('span', { class: 'smtc-soft' }, value)
    ),
    ...(rungs.length === 0
      ? [h('span', { class: 'smtc-soft' }, t('not measured'))]
      : rungs.map(rung => line(rung, most)))
  );
}

function line(rung: ILadderRung, most: number): HTMLElement {
  const { before, after, savedFraction, addedS, isSeen } = rung;
  const { mean, low, high, evidence, spread } = savedFraction;
  const range =
    spread === 'none' ? '' : ` (${percent(low)} – ${percent(high)})`;
  const saved = isSeen
    ? mean < 0
      ? t('steps take %1 longer%2', percent(-mean), rangeOf(-high, -low, range))
      : t('steps take %1 less%2', percent(mean), range)
    : t('no difference seen%1', range);
  const added = addedS.mean;
  const cost =
    added < 0
      ? t('first steps %1 shorter', format(-added, 's'))
      : t('first steps %1 longer', format(added, 's'));
  const word = evidence === 'emulated' ? `, ${t('emulated')}` : '';
  return h(
    'div',
    { class: 'smtc-rung' },
    h('span', {}, `${before} → ${after}`),
    rungBar(savedFraction, most, isSeen),
    h('span', {}, `${saved}, ${cost}${ends(addedS)}${word}`)
  );
}

function rangeOf(low: number, high: number, range: string): string {
  return range === '' ? '' : ` (${percent(low)} – ${percent(high)})`;
}

function ends({ low, high, spread }: ILadderRung['addedS']): string {
  return spread === 'none'
    ? ''
    : ` (${format(low, 's')} – ${format(high, 's')})`;
}

function percent(share: number): string {
  return format(share, 'fraction');
}

/**
 * Return where the rungs are from, each comparison once.
 */
function sources(rungs: readonly ILadderRung[]): readonly HTMLElement[] {
  const told = [...new Set(rungs.map(rung => whereFrom(rung.measured)))];
  return told.map(text => paragraph(text, 'smtc-soft'));
}
