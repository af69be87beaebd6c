import { readWire, type IRunInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { beginOf } from '../bounded.js';
import { h } from '../dom.js';
import { mark, t } from '../i18n.js';
import { Charts } from '../monitor/charts.js';
import { factNodes, type Fact } from '../monitor/facts.js';
import type { IKind } from '../monitor/kind.js';
import { LogView } from '../monitor/log_view.js';
import { messages, type IMessages } from '../monitor/messages.js';
import { drawn } from '../monitor/part.js';
import { folded } from '../monitor/section.js';
import {
  duration,
  intervalWords,
  percent,
  stateWord
} from '../monitor/words.js';
import { billFacts } from './bill.js';
import { chartsOfSteps } from './charts.js';
import { metrics } from './metrics.js';
import { pipeline } from './pipeline.js';
import { rankMap } from './rank_map.js';
import { rankTable } from './ranks.js';
import { spreadFacts } from './spread.js';
import { utilization } from './utilization.js';
import { emptyWords, evidenceWords, stepWords } from './words.js';

/**
 * A run: charts of steps and instances, events, log.
 */
export const run: IKind<IRunInfo> = {
  kind: 'run',
  what: mark('the run'),
  classes: 'smtc-run',
  follow: json => readWire('RunInfo', json),
  describe(info, elapsedS, feed) {
    const { jobName, state, secondary, maxSteps } = info;
    const reason =
      state === 'Failed'
        ? `${info.reason}\n${t('The log tells more; run.logs() returns all of it.')}`
        : info.reason;
    // tables are newer than the description
    const steps = Math.max(feed.table('steps')?.numRows ?? 0, info.steps ?? 0);
    return {
      name: jobName,
      label: t('Run %1', jobName),
      spoken: t(
        'Run %1: %2. %3',
        jobName,
        t(stateWord(state, secondary)),
        beginOf(reason)
      ),
      done: maxSteps && Math.min(1, steps / maxSteps),
      progress: stepWords(steps, maxSteps),
      facts: factsOf(info, elapsedS),
      interruptible: info.canInterrupt
        ? {
            attempts: info.attempts,
            isOff: state !== 'InProgress' || secondary === 'Interrupted'
          }
        : null,
      reason,
      problem: info.problem
    };
  },
  draw: ({ model, feed, isWide }) => [
    drawn(h('div', { class: 'smtc-run-numbers' }), info => [numbersOf(info)]),
    rankMap(),
    drawn(h('div', {}), info => ranksOf(info)),
    pipeline(),
    folded(
      t('Step time and cost'),
      true,
      new Charts(feed, info => chartsOfSteps(info, feed))
    ),
    metrics(feed),
    folded(t('Utilization'), isWide, utilization(feed)),
    folded(t('Events and findings'), isWide, messages(messagesOf)),
    // a saved run has none: what a script prints is kept where it ran
    ...(model.get('log') === undefined
      ? []
      : [folded(t('Log'), isWide, new LogView(model))])
  ]
};

function factsOf(info: IRunInfo, elapsedS: number | null): readonly Fact[] {
  const { priceNotes, pythonEnvironment, usdPerHour } = info;
  const isEmulated = info.evidence === 'emulated';
  // what it waits now is not billed
  const sinceS =
    info.secondary === 'Interrupted'
      ? 0
      : (elapsedS ?? 0) - (info.elapsedS ?? 0);
  const wholeS = info.billedS === null ? elapsedS : info.billedS + sinceS;
  // what else an emulated run takes is not on the scale of its steps
  const billedS = isEmulated ? (info.bill?.stepsS ?? null) : wholeS;
  const usd =
    billedS === null || usdPerHour === null
      ? null
      : (usdPerHour * billedS) / 3600;
  const isBilledNow = info.isBilled === true && !info.ended;
  const isFree = usdPerHour === null && info.isBilled === false;
  const cost =
    usd === null ? (isFree ? t('none') : t('unknown')) : format(usd, 'USD');
  const notes = [
    usdPerHour === null
      ? !isFree && t('a price is unknown')
      : isEmulated
        ? t('its steps alone, at %1/h', format(usdPerHour, 'USD'))
        : t('at %1/h', format(usdPerHour, 'USD')),
    isBilledNow && t('billed until it ends or is stopped'),
    info.isBilled === false && t('nothing is billed')
  ];
  return [
    [t('elapsed'), elapsedS === null ? t('not begun') : duration(elapsedS)],
    [
      t('cost so far'),
      cost,
      notes.filter(Boolean).join('; '),
      isBilledNow ? 'is-billed' : undefined
    ],
    [t(info.evidence), evidenceWords(info)],
    [t('prices'), priceNotes.join('; ') || t('unknown')],
    [t('script'), info.entryPoint],
    ...spreadFacts(info),
    ...(pythonEnvironment === ''
      ? []
      : [[t('Python environment'), pythonEnvironment] as const])
  ];
}

/**
 * Return the steps so far in a few numbers, or why there are none.
 */
function numbersOf(info: IRunInfo): HTMLElement {
  const { summary } = info;
  if (summary === null) {
    return h('p', { class: 'smtc-note' }, emptyWords(info));
  }
  const facts: readonly Fact[] = [
    [
      t('mean step time'),
      intervalWords(summary.stepTimeS, 's'),
      t(
        '%1 steps, %2; warm-up left out: %3',
        format(summary.steps, 'count'),
        t(info.evidence),
        format(summary.warmUpSteps, 'count')
      )
    ],
    [
      t('cost of 1,000 steps'),
      summary.usdPer1000Steps === null
        ? t('unknown')
        : intervalWords(summary.usdPer1000Steps, 'USD')
    ],
    ...billFacts(info),
    [t('data wait'), percent(summary.dataWaitFraction), t('of the step time')],
    [t('device busy'), percent(summary.deviceUtilization)],
    ...[...summary.cpu].map(
      ([group, cpu]) => [t('CPU of %1', group), percent(cpu)] as const
    )
  ];
  return h('dl', { class: 'smtc-facts' }, ...factNodes(facts));
}

/**
 * What the ranks of a pipeline wait for is told by their stages.
 */
function ranksOf({ summary, pipeline }: IRunInfo): readonly HTMLElement[] {
  return summary === null || pipeline !== null || summary.ranks.length < 2
    ? []
    : [rankTable(summary.ranks)];
}

function messagesOf({ findings, compiler, events }: IRunInfo): IMessages {
  const notes =
    compiler === null
      ? []
      : [t('Compiler %1', compiler.backend), ...compiler.words];
  return { findings, notes, events };
}
