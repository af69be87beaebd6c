import type {
  IPipelineInfo,
  IPipelineStageInfo,
  IRunInfo,
  ITimelineInfo
} from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IPart } from '../monitor/part.js';
import { column, table } from '../monitor/table.js';
import { percent } from '../monitor/words.js';
import { patch } from '../patch.js';
import { computationTable, timeline } from './timeline.js';

/**
 * A model that is cut into stages: what their ranks did in a step that was timed, beside what was
 * predicted, what
 * each stage is and takes, and all computations of that step as a table.
 */
export function pipeline(): IPart<IRunInfo> {
  return new Pipeline();
}

class Pipeline implements IPart<IRunInfo> {
  readonly element = h('section', {
    class: 'smtc-pipeline',
    'aria-label': t('Pipeline'),
    hidden: true
  });

  update({ pipeline: told, evidence }: IRunInfo): void {
    if (told === null) {
      return;
    }
    const steps = stepsOf(told);
    const key = JSON.stringify([told.sentence, steps.map(one => one.step)]);
    if (key === this._key) {
      return;
    }
    this._key = key;
    this._told = told;
    this._evidence = t(evidence);
    this.element.hidden = false;
    patch(this._words, [
      h('p', { class: 'smtc-rank-words' }, told.sentence),
      h('p', { class: 'smtc-note' }, noteOf(told, this._evidence))
    ]);
    if (steps.length > 1) {
      this._words.after(this._choice);
    } else {
      this._choice.remove();
    }
    patch(
      this._chooser,
      steps.map(one => optionOf(one, told))
    );
    patch(this._stages, [stageTable(told)]);
    this._computations.hidden = told.timeline === null;
    this._draw();
  }

  /**
   * Draw the step that was chosen; while it is told, and that in the middle otherwise.
   */
  private _draw(): void {
    const told = this._told;
    const step =
      told &&
      (stepsOf(told).find(one => one.step === this._chosen) ?? told.timeline);
    this._step = step;
    patch(
      this._picture,
      told && step ? [timeline(told, step, this._evidence)] : []
    );
    this._chooser.value = String(step?.step);
    this._list();
  }

  /**
   * The table is long, and is made while somebody has it open.
   */
  private _list(): void {
    if (this._computations.open && this._step && this._told) {
      patch(this._rows, [computationTable(this._told, this._step)]);
    }
  }

  private readonly _words = h('div');
  private readonly _chooser = h('select', {
    onchange: () => {
      const step = Number(this._chooser.value);
      this._chosen = step === this._told?.timeline?.step ? null : step;
      this._draw();
    }
  });
  private readonly _choice = h('label', {}, `${t('Drawn is')} `, this._chooser);
  private readonly _picture = h('div');
  private readonly _stages = scrolled(t('Stages of the model'));
  private readonly _rows = scrolled(t('What each rank did in the step'));
  private readonly _computations = h(
    'details',
    {
      class: 'smtc-section',
      ontoggle: () => {
        this._list();
      }
    },
    h('summary', {}, t('The same step as a table')),
    this._rows
  );
  private _step: ITimelineInfo | null = null;
  private _told: IPipelineInfo | null = null;
  private _chosen: number | null = null;
  private _evidence = '';
  private _key = '';

  constructor() {
    this.element.append(
      this._words,
      this._picture,
      this._stages,
      this._computations
    );
  }
}

/**
 * Return all steps that can be drawn, in order.
 */
function stepsOf({
  timeline: median,
  otherSteps
}: IPipelineInfo): readonly ITimelineInfo[] {
  return median === null
    ? []
    : [...otherSteps, median].sort((one, other) => one.step - other.step);
}

function optionOf(
  one: ITimelineInfo,
  { timeline: median }: IPipelineInfo
): HTMLElement {
  const took = format(one.windowS, 's');
  return h(
    'option',
    { value: one.step },
    one === median
      ? t('step %1: %2, the median', one.step, took)
      : t('step %1: %2', one.step, took)
  );
}

function scrolled(label: string): HTMLElement {
  return h('div', {
    class: 'smtc-scroll',
    role: 'region',
    'aria-label': label,
    tabindex: 0
  });
}

function noteOf(told: IPipelineInfo, evidence: string): string {
  const { microbatches, numSteps, replicas } = told;
  return [
    t('%1, %2 microbatches', told.schedule, microbatches),
    ...(replicas > 1 ? [t('the first of %1 replicas', replicas)] : []),
    ...(numSteps > 0 ? [t('means of %1 steps, %2', numSteps, evidence)] : [])
  ].join('; ');
}

/**
 * Return a row for each stage; what the cut expected stands hollow behind what was measured.
 */
function stageTable(told: IPipelineInfo): HTMLElement {
  const heads = [
    t('stage'),
    t('rank'),
    t('modules'),
    t('share of the time'),
    t('forward'),
    t('backward'),
    t('memory, predicted'),
    t('busy'),
    t('bubble')
  ];
  const most = Math.max(
    ...told.stages.map(stage =>
      Math.max(stage.flopsFraction, stage.timeFraction ?? 0)
    )
  );
  const lines = told.stages.map(
    (stage, place) =>
      [
        String(place),
        ...rankCells(told, stage),
        moduleWords(stage),
        shareOf(stage, most),
        secondsWords(stage.forwardS),
        secondsWords(stage.backwardS),
        memoryWords(stage),
        ...busyCells(told, stage)
      ] as const
  );
  return table(
    'smtc-stages',
    heads.map(word => column(word)),
    lines
  );
}

function rankCells(
  { ranks }: IPipelineInfo,
  stage: IPipelineStageInfo
): [string] {
  const rank = ranks[stage.rank];
  return [
    rank === undefined ? String(stage.rank) : `${rank.rank}, ${rank.host}`
  ];
}

function busyCells(
  { ranks }: IPipelineInfo,
  stage: IPipelineStageInfo
): [string, string] {
  const rank = ranks[stage.rank];
  return [rank?.busyFraction, rank?.waitFraction].map(share =>
    percent(share ?? null)
  ) as [string, string];
}

function moduleWords({ modules, numModules }: IPipelineStageInfo): string {
  return numModules === 1 ? modules : `${numModules} (${modules})`;
}

function shareOf(
  { flopsFraction, timeFraction }: IPipelineStageInfo,
  most: number
): HTMLElement {
  const width = (share: number): string =>
    `width: ${most > 0 ? (100 * share) / most : 0}%`;
  return h(
    'div',
    { class: 'smtc-share' },
    h('i', { class: 'smtc-share-predicted', style: width(flopsFraction) }),
    h('i', { class: 'smtc-share-measured', style: width(timeFraction ?? 0) }),
    h(
      'span',
      {},
      timeFraction === null
        ? t('predicted %1', percent(flopsFraction))
        : t('%1 (predicted %2)', percent(timeFraction), percent(flopsFraction))
    )
  );
}

function secondsWords(seconds: number | null): string {
  return seconds === null ? t('unknown') : format(seconds, 's');
}

function memoryWords({ memoryBytes, limitBytes }: IPipelineStageInfo): string {
  const held = format(memoryBytes, 'bytes');
  return limitBytes === null
    ? held
    : t('%1 of %2', held, format(limitBytes, 'bytes'));
}
