import {
  readWire,
  STAGES,
  type IPlanInfo,
  type IPointInfo
} from '@smtc-lab/protocol';
import { paletteColor } from '../charts/theme.js';
import { bounded, paragraph } from '../bounded.js';
import { h } from '../dom.js';
import { onChanges } from '../forms/component.js';
import { t } from '../i18n.js';
import { patch } from '../patch.js';
import type { IModel, IView } from '../model.js';
import { Detail } from './detail.js';
import { ParetoChart } from './pareto_chart.js';
import { PlanTable } from './plan_table.js';
import { Toggles } from './toggles.js';
import { priceWords, runWords, STAGE_COLORS, STAGE_WORDS } from './words.js';

/**
 * A plan: time against cost of its clusters, and one of them in detail.
 *
 * Reads `plan`, a `PlanInfo`, from its model. `chosen` is the place of the cluster that is
 * shown in detail, -1 for the one that the plan recommends; `explained` is what Python says of
 * it, where there is a Python: its `place`, `text` and `code`.
 */
export const planner: IView = {
  initialize: () => null,
  render({ model, el }): () => void {
    const view = new Planner(model);
    el.append(view.element);
    const leave = onChanges(model, ['plan', 'explained'], () => {
      view.update();
    });
    const leaveChoice = onChanges(model, ['chosen'], () => {
      view.choose(model.get('chosen'));
    });
    return () => {
      leave();
      leaveChoice();
      view.dispose();
    };
  }
};

class Planner {
  readonly element: HTMLElement;

  constructor(private readonly _model: IModel) {
    this.element = h(
      'section',
      { class: 'smtc-plan', 'aria-label': t('Plan') },
      h('p', { class: 'smtc-plan-sentence' }, this._sentence, ' ', this._badge),
      this._basis,
      this._toggles.element,
      h(
        'div',
        { class: 'smtc-plan-body' },
        h('div', {}, this._chart.element, this._key),
        this._detail.element
      ),
      this._runs,
      this._table.element,
      this._notes
    );
    this.choose(_model.get('chosen'));
    this.update();
  }

  /**
   * Show what the model holds now.
   */
  update(): void {
    const plan = readWire('PlanInfo', this._model.get('plan'));
    if (this._plan === null || !isSame(plan, this._plan)) {
      this._plan = plan;
    }
    this._show(this._plan);
  }

  /**
   * Show a cluster in detail.
   */
  choose(place: unknown): void {
    const wanted = typeof place === 'number' ? place : -1;
    if (wanted !== this._place) {
      this._place = wanted;
      this.update();
    }
  }

  dispose(): void {
    this._chart.dispose();
    this._detail.dispose();
    this.element.remove();
  }

  private _show(plan: IPlanInfo): void {
    const chosen = this._chosen(plan);
    this._sentence.textContent = plan.sentence;
    this._badge.textContent = t(best(plan)?.evidence ?? 'predicted');
    this._basis.replaceChildren(
      ...[plan.limits, plan.basis]
        .filter(Boolean)
        .map(text => h('div', {}, ...bounded(text)))
    );
    this._toggles.show(plan);
    this._chart.show({ plan, axes: this._toggles.axes, chosen });
    this._key.replaceChildren(...key(plan));
    this._table.show(plan, chosen);
    this._detail.element.hidden = chosen === null;
    if (chosen !== null) {
      this._detail.show(this._withWords(plan, chosen));
    }
    this._runs.replaceChildren(
      ...plan.measured.map(run => h('li', {}, runWords(run)))
    );
    patch(
      this._notes,
      plan.notes.map(note => paragraph(note))
    );
  }

  private _chosen(plan: IPlanInfo): IPointInfo | null {
    return plan.points[this._place] ?? best(plan) ?? plan.points[0] ?? null;
  }

  /**
   * Return a cluster with what Python said of it since.
   */
  private _withWords(plan: IPlanInfo, chosen: IPointInfo): IPointInfo {
    const told = this._model.get('explained');
    if (typeof told === 'object' && told !== null) {
      const { place, text, code } = told as Readonly<Record<string, unknown>>;
      if (
        place === plan.points.indexOf(chosen) &&
        typeof text === 'string' &&
        typeof code === 'string'
      ) {
        return { ...chosen, explanation: text, code };
      }
    }
    return chosen;
  }

  /**
   * Tell Python of a choice. What is only saved has no Python, and so the view keeps it.
   */
  private _choose(point: IPointInfo): void {
    const place = this._plan?.points.indexOf(point) ?? -1;
    this._model.set('chosen', place);
    this._model.save_changes();
    this.choose(place);
  }

  private readonly _sentence = h('strong');
  private readonly _badge = h('span', { class: 'smtc-badge' });
  private readonly _basis = h('div', { class: 'smtc-note' });
  private readonly _runs = h('ul', { class: 'smtc-plan-runs' });
  private readonly _notes = h('div');
  private readonly _key = h('div', { class: 'smtc-plan-key smtc-note' });
  private readonly _detail = new Detail();
  private readonly _toggles = new Toggles(() => {
    this.update();
  });
  private readonly _table = new PlanTable(point => {
    this._choose(point);
  });
  private readonly _chart = new ParetoChart({
    onHover: point => {
      const shown = point ?? (this._plan && this._chosen(this._plan));
      if (shown !== null) {
        this._detail.peek(shown);
      }
    },
    onChoose: point => {
      this._choose(point);
    }
  });
  private _plan: IPlanInfo | null = null;
  private _place = -1;
}

/**
 * Return the cluster that a plan recommends, if it recommends one.
 */
function best(plan: IPlanInfo): IPointInfo | undefined {
  return plan.points.find(point => point.names.includes('best'));
}

/**
 * Say what colours and shapes mean, of what is there.
 */
function key(plan: IPlanInfo): readonly HTMLElement[] {
  const limiting = STAGES.filter(stage =>
    plan.points.some(point => point.bottleneck === stage)
  ).map(stage => {
    const swatch = h('span', { class: 'smtc-plan-swatch' });
    swatch.style.background = paletteColor(STAGE_COLORS[stage]);
    return h('span', {}, swatch, t('limited by %1', t(STAGE_WORDS[stage])));
  });
  const shapes = t(
    '○ one kind of instance, □ with data instances; hollow: predicted, dashed: extrapolated or estimated, solid: measured or emulated; bands: 80 % intervals'
  );
  const prices = plan.points.filter(point => point.isPareto).map(priceWords);
  return [
    ...limiting,
    h('span', {}, shapes),
    h('span', {}, t('prices: %1', [...new Set(prices)].join('; ')))
  ];
}

/**
 * Whether two plans say the same: then what is shown of the old one stays.
 */
function isSame(one: IPlanInfo, other: IPlanInfo): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
