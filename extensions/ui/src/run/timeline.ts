import type { IPipelineInfo, ITimelineInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { mark, t } from '../i18n.js';
import { column, table } from '../monitor/table.js';
import { percent } from '../monitor/words.js';

type Kind = ITimelineInfo['kind'][number];

const WORDS: Readonly<Record<Kind, string>> = {
  forward: mark('forward'),
  backward: mark('backward'),
  weight: mark('gradients of weights'),
  wait: mark('bubble: waits for another stage'),
  transfer: mark('exposed communication, and work of the host')
};

const NONE = '\u2013';

/**
 * A step as a row for each rank, with a box for all that it did, before the outlines of what was
 * predicted. A box has no text of its own for a reader: the table has.
 *
 * @param evidence - What the times of the run are, as a word.
 */
export function timeline(
  told: IPipelineInfo,
  step: ITimelineInfo,
  evidence: string
): HTMLElement {
  const { predicted, isScaled } = told;
  const until = Math.max(step.windowS, predicted?.windowS ?? 0);
  const kinds = new Set(step.kind);
  const label = t(
    'Step %1 of the pipeline, a row for each rank over %2',
    step.step,
    format(step.windowS, 's')
  );
  return h(
    'div',
    {},
    h(
      'div',
      {
        class: 'smtc-lanes',
        role: 'img',
        'aria-label':
          predicted === null
            ? label
            : t('%1, predicted %2', label, format(predicted.windowS, 's')),
        'data-predicted': predicted !== null
      },
      ...told.ranks.flatMap((_, place) => laneOf(told, step, place, until)),
      ...(predicted === null
        ? []
        : [
            ...stepRow(evidence, step, 'measured', until),
            ...stepRow(t('predicted'), predicted, 'predicted', until)
          ]),
      h('span'),
      h(
        'div',
        { class: 'smtc-lane-axis smtc-note' },
        ...[0, 0.5, 1].map(at => h('span', {}, format(at * until, 's')))
      )
    ),
    h(
      'p',
      { class: 'smtc-note smtc-lane-key' },
      ...(Object.keys(WORDS) as Kind[])
        .filter(kind => kinds.has(kind))
        .map(kind => keyOf(`smtc-span-${kind}`, t(WORDS[kind]))),
      predicted === null
        ? h('span', {}, t('This run holds no prediction of a step.'))
        : keyOf(
            'smtc-foretold',
            isScaled
              ? t(
                  'predicted: the time that was computed, divided by operations'
                )
              : t('predicted: what the emulated device declares')
          ),
      h('span', {}, t('Numbers are microbatches.')),
      ...(step.leftOut > 0
        ? [h('span', {}, t('The last %1 boxes are left out.', step.leftOut))]
        : [])
    )
  );
}

function keyOf(name: string, words: string): HTMLElement {
  return h('span', {}, h('i', { class: name }), ` ${words}`);
}

/**
 * Return how long a step took, or was predicted to take, on the axis of its boxes.
 */
function stepRow(
  words: string,
  { windowS }: ITimelineInfo,
  name: string,
  until: number
): readonly HTMLElement[] {
  return [
    h(
      'span',
      { class: 'smtc-lane-name' },
      words,
      h('small', {}, format(windowS, 's'))
    ),
    h(
      'div',
      { class: 'smtc-lane-step' },
      h('i', { class: `smtc-share-${name}`, style: at(0, windowS, until) })
    ),
    h('span', { class: 'smtc-number' })
  ];
}

function laneOf(
  { ranks, stages, predicted }: IPipelineInfo,
  step: ITimelineInfo,
  place: number,
  until: number
): readonly HTMLElement[] {
  const rank = ranks[place];
  const own = stages.flatMap((stage, number) =>
    stage.rank === place ? [number] : []
  );
  return [
    h(
      'span',
      { class: 'smtc-lane-name' },
      t('rank %1', String(rank?.rank ?? place)),
      h('small', {}, t('stage %1', own.join(', ')))
    ),
    h(
      'div',
      { class: 'smtc-lane' },
      ...(predicted === null ? [] : outlines(predicted, place, until)),
      ...placesOf(step, place).map(box => boxOf(step, box, until))
    ),
    h(
      'span',
      { class: 'smtc-number' },
      t('busy %1', percent(rank?.busyFraction ?? null))
    )
  ];
}

function placesOf(step: ITimelineInfo, rank: number): readonly number[] {
  return [...step.rank.keys()].filter(box => step.rank[box] === rank);
}

function at(begin = 0, lasted = 0, until: number): string {
  const share = (seconds: number): number =>
    until > 0 ? (100 * seconds) / until : 0;
  return `left: ${share(begin)}%; width: ${share(lasted)}%`;
}

function outlines(
  predicted: ITimelineInfo,
  place: number,
  until: number
): readonly HTMLElement[] {
  return placesOf(predicted, place).map(box =>
    h('i', {
      class: `smtc-foretold smtc-foretold-${predicted.kind[box] as Kind}`,
      style: at(predicted.beginS[box], predicted.lastedS[box], until)
    })
  );
}

function boxOf(step: ITimelineInfo, box: number, until: number): HTMLElement {
  const microbatch = numberWords(step.microbatch[box]);
  return h(
    'i',
    {
      class: `smtc-span smtc-span-${step.kind[box] as Kind}`,
      style: at(step.beginS[box], step.lastedS[box], until),
      title: boxWords(step, box)
    },
    isComputed(step, box)
      ? h('b', { class: microbatch[1] ? 'smtc-long' : '' }, microbatch)
      : null
  );
}

function boxWords(step: ITimelineInfo, box: number): string {
  const what = t(WORDS[step.kind[box] as Kind]);
  const lasted = timeWords(step.lastedS[box]);
  return isComputed(step, box)
    ? t(
        'stage %1, microbatch %2, %3: %4',
        numberWords(step.stage[box]),
        numberWords(step.microbatch[box]),
        what,
        lasted
      )
    : `${what}: ${lasted}`;
}

function isComputed(step: ITimelineInfo, box: number): boolean {
  return (step.microbatch[box] ?? -1) >= 0;
}

function timeWords(seconds: number | undefined): string {
  return seconds === undefined ? NONE : format(seconds, 's');
}

function numberWords(number = -1): string {
  return number < 0 ? NONE : String(number);
}

/**
 * Return what tells computations of a step apart.
 */
function nameOf(step: ITimelineInfo, box: number): string {
  return [step.kind[box], step.stage[box], step.microbatch[box]].join();
}

/**
 * All that the ranks did in a step, a row for each box of the timeline, by rank and begin, with
 * what was predicted of it.
 */
export function computationTable(
  { ranks, predicted }: IPipelineInfo,
  step: ITimelineInfo
): HTMLElement {
  const heads = [
    t('rank'),
    t('begin'),
    t('took'),
    t('what'),
    t('stage'),
    t('microbatch'),
    ...(predicted === null ? [] : [t('predicted begin'), t('predicted time')])
  ];
  const foretold = new Map(
    predicted?.rank.map((_, box) => [nameOf(predicted, box), box])
  );
  const lines = ranks.flatMap((rank, place) =>
    placesOf(step, place).map(box => {
      const own = foretold.get(nameOf(step, box)) ?? -1;
      return [
        String(rank.rank),
        timeWords(step.beginS[box]),
        timeWords(step.lastedS[box]),
        t(WORDS[step.kind[box] as Kind]),
        numberWords(step.stage[box]),
        numberWords(step.microbatch[box]),
        ...(predicted === null
          ? []
          : [
              timeWords(predicted.beginS[own]),
              timeWords(predicted.lastedS[own])
            ])
      ] as const;
    })
  );
  return table(
    'smtc-spans',
    heads.map(word => column(word)),
    lines
  );
}
