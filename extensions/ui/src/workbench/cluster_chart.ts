import {
  isForecastOf,
  parseCatalog,
  parseCatalogPlans,
  type ICatalogPlan,
  type ICatalogPlans,
  type IJob,
  type IPointInfo
} from '@smtc-lab/protocol';
import { paragraph } from '../bounded.js';
import { h, newId } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel } from '../model.js';
import { letterOf, setUpMark } from '../picture/set_up_mark.js';
import { ParetoChart } from '../plan/pareto_chart.js';
import { PlanTable } from '../plan/plan_table.js';
import type { ISetUpPlace } from '../plan/set_up_place.js';
import { bottleneckWords, estimateWords, pointWords } from '../plan/words.js';
import { isPlanned, withPlanned } from './put_cluster.js';
import type { SetUps } from './set_ups.js';

const STEPS = { time: 'step', cost: 'steps' } as const;

/**
 * All clusters of the catalog in time against cost, and the set-ups among them. One that is
 * chosen goes into a set-up.
 */
export class ClusterChart {
  constructor(
    private readonly _model: IModel,
    private readonly _setUps: SetUps
  ) {
    this.element.append(
      h('summary', {}, t('All clusters on real instances: time against cost')),
      h('div', { class: 'smtc-row' }, this._into, this._said),
      this._chart.element,
      this._problems,
      h('details', {}, h('summary', {}, t('As a table')), this._table.element)
    );
    this.update();
  }

  readonly element = h('details', {
    class: 'smtc-plan smtc-cluster-chart',
    open: true,
    hidden: true
  });

  /**
   * Show what the model and the set-ups say now.
   */
  update(): void {
    const told = parseCatalogPlans(this._model.get('catalog_plans'));
    this.element.hidden = told.plans.length === 0;
    if (this.element.hidden) {
      return;
    }
    const isStale = !isForecastOf(told, this._model.get('value'));
    this.element.classList.toggle('smtc-stale', isStale);
    const { jobs, changed } = this._setUps;
    const place = Math.min(changed, jobs.length - 1);
    // while set-ups change nothing is drawn: what they would be comes first
    if (place !== this._place || (!isStale && told !== this._told)) {
      this._place = place;
      this._told = told;
      this._show(told, jobs);
    }
    this._showInto(jobs.length);
  }

  dispose(): void {
    this._chart.dispose();
    this.element.remove();
  }

  private _show(told: ICatalogPlans, jobs: readonly IJob[]): void {
    const at = told.setUps[this._place]?.plan ?? null;
    const shown = at === null ? undefined : told.plans[at];
    this._shown = shown ?? null;
    this._problems.replaceChildren(...problems(told, this._place));
    this._chart.element.hidden = shown === undefined;
    if (shown === undefined) {
      this._said.textContent = '';
      return;
    }
    const catalog = parseCatalog(this._model.get('catalog'));
    const own = jobs[this._place];
    const chosen =
      shown.plan.points.find(
        (_, place) =>
          own !== undefined &&
          isPlanned(own.cluster, shown.groups[place] ?? [], catalog)
      ) ?? null;
    const { plan } = shown;
    this._chart.show({
      plan,
      axes: STEPS,
      chosen,
      setUps: placesOf(told, at)
    });
    this._table.show(plan, chosen);
    this._usual = t(
      'Predicted for the instances themselves, not for the scale at which set-ups are emulated here: %1 of %2 clusters. A line joins those that no other one beats.',
      plan.points.length,
      plan.numCandidates
    );
    this._said.textContent = this._usual;
  }

  /**
   * Show which set-up a cluster would go into.
   */
  private _showInto(count: number): void {
    if (this._inputs.length !== count) {
      const name = newId();
      this._inputs = Array.from({ length: count }, (_, place) =>
        h('input', {
          type: 'radio',
          name,
          'aria-label': t('Set-up %1', letterOf(place)),
          onchange: () => {
            this._setUps.changed = place;
            this.update();
          }
        })
      );
      const labels = this._inputs.map((input, place) =>
        h(
          'label',
          {},
          input,
          h('span', {}, setUpMark(place), ` ${letterOf(place)}`)
        )
      );
      this._choices.replaceChildren(...labels);
    }
    this._inputs.forEach((input, place) => {
      input.checked = place === this._place;
    });
  }

  private _choose(point: IPointInfo): void {
    const place = this._shown?.plan.points.indexOf(point) ?? -1;
    const groups = this._shown?.groups[place];
    if (groups !== undefined) {
      const catalog = parseCatalog(this._model.get('catalog'));
      this._setUps.change(this._place, job => ({
        ...job,
        cluster: withPlanned(job.cluster, groups, catalog)
      }));
      this.update();
    }
  }

  private _hover(point: IPointInfo | null): void {
    this._said.textContent =
      point === null
        ? this._usual
        : t(
            '%1: %2 a step, %3 per 1,000 steps, limited by %4, %5. Press to put it into set-up %6.',
            pointWords(point),
            estimateWords(point.stepTimeS, 's'),
            estimateWords(point.usdPer1000Steps, 'USD'),
            bottleneckWords(point),
            t(point.evidence),
            letterOf(this._place)
          );
  }

  private readonly _said = h('p', { class: 'smtc-note smtc-cluster-said' });
  private readonly _choices = h('div', {
    class: 'smtc-switch',
    role: 'radiogroup',
    'aria-label': t('A cluster that is pressed goes into')
  });
  private readonly _into = h(
    'div',
    { class: 'smtc-cluster-into' },
    h(
      'span',
      { 'aria-hidden': 'true' },
      t('A cluster that is pressed goes into')
    ),
    this._choices
  );
  private readonly _problems = h('div');
  private readonly _table = new PlanTable(point => {
    this._choose(point);
  });
  private readonly _chart = new ParetoChart({
    onHover: point => {
      this._hover(point);
    },
    onChoose: point => {
      this._choose(point);
    }
  });
  private _inputs: readonly HTMLInputElement[] = [];
  private _shown: ICatalogPlan | null = null;
  private _told: ICatalogPlans | null = null;
  private _place = -1;
  private _usual = '';
}

/**
 * Return where the set-ups of a plan are.
 */
function placesOf(
  { setUps }: ICatalogPlans,
  plan: number | null
): readonly ISetUpPlace[] {
  return setUps.flatMap((each, setUp) =>
    each.plan === plan && each.stepTimeS !== null
      ? [
          {
            setUp,
            stepTimeS: each.stepTimeS,
            usdPer1000Steps: each.usdPer1000Steps
          }
        ]
      : []
  );
}

/**
 * Say of the set-ups that are not on the chart why.
 */
function problems(
  { setUps }: ICatalogPlans,
  chosen: number
): readonly HTMLElement[] {
  const at = setUps[chosen]?.plan ?? null;
  return setUps.flatMap(({ plan, problem }, place) => {
    const letter = letterOf(place);
    const words =
      problem === '' && plan !== at && at !== null
        ? t(
            'Not on this chart: %1, a step of which is other work (script, hyperparameters, number of devices).',
            letter
          )
        : problem && `${letter}: ${problem}`;
    return words === '' ? [] : [paragraph(words)];
  });
}
