import type { IPlanInfo, IPlanPoint } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { usdPerHourText } from '../forms/price.js';
import { mark, t } from '../i18n.js';
import {
  bottleneckWords,
  estimateWords,
  pointWords,
  priceWords
} from './words.js';

const HEAD = [
  mark('cluster'),
  mark('time per step'),
  mark('price'),
  mark('1,000 steps'),
  mark('job'),
  mark('job time'),
  mark('bottleneck'),
  mark('evidence'),
  mark('price from')
];
const FEW = 12;

/**
 * The clusters of a plan as a table. Each can be chosen.
 */
export class PlanTable {
  readonly element = h('div', { class: 'smtc-plan-table' });

  constructor(private readonly _onChoose: (point: IPlanPoint) => void) {
    this.element.append(this._scroll, this._more);
  }

  /**
   * Show a plan.
   *
   * @param chosen - The cluster that stands out; null: none.
   */
  show(plan: IPlanInfo, chosen: IPlanPoint | null): void {
    const standOut = plan.points.filter(
      point => point.isPareto || point.names.length > 0 || point === chosen
    );
    const few = standOut.slice(0, FEW);
    const shown = this._isLong ? plan.points : few;
    const caption = t(
      '%1 of %2 clusters within the limits; predicted means, with 80 % intervals',
      format(shown.length, 'count'),
      format(plan.numCandidates, 'count')
    );
    this._scroll.replaceChildren(
      h(
        'table',
        {},
        h('caption', {}, caption),
        h(
          'thead',
          {},
          h('tr', {}, ...HEAD.map(name => h('th', { scope: 'col' }, t(name))))
        ),
        h(
          'tbody',
          {},
          ...shown.map(point => this._row(point, point === chosen))
        )
      )
    );
    this._more.hidden = plan.points.length <= few.length;
    this._more.textContent = this._isLong
      ? t('Show the best clusters only')
      : t(
          'Show %1 more clusters',
          format(plan.points.length - few.length, 'count')
        );
    this._again = () => {
      this.show(plan, chosen);
    };
  }

  private _row(point: IPlanPoint, isChosen: boolean): HTMLElement {
    const choose = h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(isChosen),
        onclick: () => {
          this._onChoose(point);
          // the row is a new one
          this.element
            .querySelector<HTMLElement>('button[aria-pressed="true"]')
            ?.focus();
        }
      },
      pointWords(point)
    );
    const cells = [
      estimateWords(point.stepTimeS, 's'),
      usdPerHourText(point.usdPerHour),
      estimateWords(point.usdPer1000Steps, 'USD'),
      estimateWords(point.usdPerJob, 'USD'),
      point.jobS === null ? t('unknown') : format(point.jobS.value, 's'),
      bottleneckWords(point),
      t(point.evidence),
      priceWords(point)
    ];
    return h(
      'tr',
      { class: isChosen ? 'smtc-plan-chosen' : null },
      h('th', { scope: 'row' }, choose),
      ...cells.map(text => h('td', {}, text))
    );
  }

  private readonly _scroll = h('div', {
    class: 'smtc-scroll',
    tabindex: 0,
    role: 'region',
    'aria-label': t('Clusters')
  });
  private readonly _more = h('button', {
    type: 'button',
    onclick: () => {
      this._isLong = !this._isLong;
      this._again();
    }
  });
  private _isLong = false;
  private _again = (): void => undefined;
}
