import type { IAnsweredPolicy, ISpotAnswer } from '@smtc-lab/protocol';
import { paragraph } from '../bounded.js';
import { button, h } from '../dom.js';
import { mark, t } from '../i18n.js';
import { format } from '../charts/units.js';
import type { Unit } from '../charts/options.js';

/**
 * Puts into a job what makes it one of a policy.
 */
export type UsePolicy = (isSpot: boolean) => void;

const SURE = 0.95;
const POLICIES: Readonly<Record<string, string>> = {
  'on-demand': mark('on-demand'),
  'spot only': mark('spot only'),
  'greedy then on-demand': mark('greedy then on-demand'),
  'uniform progress': mark('uniform progress')
};

/**
 * Return that jobs of a policy are often stopped before their end; empty: they are not.
 */
export function unfinishedText(
  answer: ISpotAnswer | undefined,
  isSpot: boolean
): string {
  const used = answer?.policies.find(
    ({ useSpotInstances }) => useSpotInstances === isSpot
  );
  const chance = used?.deadlineProbability ?? 1;
  return chance >= SURE
    ? ''
    : ` ${t('Of its futures %1 are stopped before their end.', format(1 - chance, 'fraction'))}`;
}

/**
 * Return what a forecast is of, a table of its policies, and what to take.
 */
export function policyTable(
  { about, advice, best, policies }: ISpotAnswer,
  onUse: UsePolicy
): readonly HTMLElement[] {
  const hasOthers = policies.some(each => each.useSpotInstances === null);
  return [
    ...about.map(text => paragraph(text)),
    h(
      'div',
      {
        class: 'smtc-scroll',
        tabindex: 0,
        role: 'region',
        'aria-label': t('Policies')
      },
      h(
        'table',
        { class: 'smtc-policies' },
        h('caption', {}, t('Predicted: means, and 5 to 95 % of the futures')),
        h('thead', {}, h('tr', {}, ...headOf())),
        h('tbody', {}, ...policies.map(each => rowOf(each, best, onUse)))
      )
    ),
    ...(hasOthers
      ? [
          paragraph(
            t(
              'A job says the first two alone: no launcher changes between spot and on-demand instances.'
            )
          )
        ]
      : []),
    ...advice.map((text, place) =>
      paragraph(text, place === 1 ? 'smtc-advice' : 'smtc-note')
    )
  ];
}

function headOf(): readonly HTMLElement[] {
  return [
    t('Policy'),
    t('Cost'),
    t('Ends after'),
    t('In time'),
    t('Saves every')
  ].map(words => h('th', { scope: 'col' }, words));
}

function rowOf(
  one: IAnsweredPolicy,
  best: string,
  onUse: UsePolicy
): HTMLElement {
  const { deadlineProbability, policy, saveEveryS, useSpotInstances } = one;
  const sign = one.endedFraction < 1 ? '≥ ' : '';
  const name = t(POLICIES[policy] ?? policy);
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      name,
      policy === best
        ? h('span', { class: 'smtc-badge' }, t('recommended'))
        : null,
      useSpotInstances === null
        ? null
        : button(
            t('Use this'),
            () => {
              onUse(useSpotInstances);
            },
            { 'aria-label': t('Use this: %1', name) }
          )
    ),
    intervalOf(one.usd, 'USD', sign),
    intervalOf(one.finishS, 's', sign),
    number(deadlineProbability === null ? '' : shareOf(deadlineProbability)),
    number(saveEveryS === null ? '' : format(saveEveryS, 's'))
  );
}

function intervalOf(
  { mean, low, high }: IAnsweredPolicy['usd'],
  unit: Unit,
  sign: string
): HTMLElement {
  const ends = low === high ? '' : `${format(low, unit)}–${format(high, unit)}`;
  return h(
    'td',
    { class: 'smtc-number' },
    sign + format(mean, unit),
    ends === '' ? null : h('div', { class: 'smtc-note' }, ends)
  );
}

function number(text: string): HTMLElement {
  return h('td', { class: 'smtc-number' }, text);
}

/**
 * Write a share that says 0 and 100 % only where it is.
 */
function shareOf(share: number): string {
  if (share > 0.995 && share < 1) {
    return '> 99.5 %';
  }
  return share > 0 && share < 0.005 ? '< 0.5 %' : format(share, 'fraction');
}
