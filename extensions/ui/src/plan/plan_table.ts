import type { IPlanInfo, IPointInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { button, h } from '../dom.js';
import { usdPerHourText } from '../forms/price.js';
import { mark, t } from '../i18n.js';
import { keepFocus } from './keep_focus.js';
import {
  bottleneckWords,
  estimateWords,
  pointWords,
  priceWords
} from './words.js';

interface IColumn {
  readonly name: string;

  /**
   * Return what rows are sorted by; null: unknown, and behind all others.
   */
  readonly of: (point: IPointInfo) => number | string | null;

  /**
   * What stands in it; undefined: the name of the cluster, to be chosen.
   */
  readonly text?: (point: IPointInfo) => string;

  /**
   * Whether it is of the whole job, and so nothing without a number of steps.
   */
  readonly isOfJob?: boolean;
}

const COLUMNS: readonly IColumn[] = [
  { name: mark('cluster'), of: point => point.label },
  {
    name: mark('time per step'),
    of: point => point.stepTimeS.value,
    text: point => estimateWords(point.stepTimeS, 's')
  },
  {
    name: mark('price'),
    of: point => point.usdPerHour,
    text: point => usdPerHourText(point.usdPerHour)
  },
  {
    name: mark('1,000 steps'),
    of: point => point.usdPer1000Steps?.value ?? null,
    text: point => estimateWords(point.usdPer1000Steps, 'USD')
  },
  {
    name: mark('job'),
    of: point => point.usdPerJob?.value ?? null,
    text: point => estimateWords(point.usdPerJob, 'USD'),
    isOfJob: true
  },
  {
    name: mark('job time'),
    of: point => point.jobS?.value ?? null,
    text: point =>
      point.jobS === null ? t('unknown') : format(point.jobS.value, 's'),
    isOfJob: true
  },
  {
    name: mark('bottleneck'),
    of: point => bottleneckWords(point),
    text: bottleneckWords
  },
  {
    name: mark('evidence'),
    of: point => point.evidence,
    text: point => t(point.evidence)
  },
  {
    name: mark('price from'),
    of: point => priceWords(point),
    text: priceWords
  }
];
const FEW = 12;

/**
 * The clusters of a plan as a table. Each can be chosen, and a click on a head sorts them.
 */
export class PlanTable {
  readonly element = h('div', { class: 'smtc-plan-table' });

  constructor(private readonly _onChoose: (point: IPointInfo) => void) {
    this.element.append(this._scroll, this._more);
  }

  /**
   * Show a plan.
   *
   * @param chosen - The cluster that stands out; null: none.
   */
  show(plan: IPlanInfo, chosen: IPointInfo | null): void {
    const standOut = plan.points.filter(
      point => point.isPareto || point.names.length > 0 || point === chosen
    );
    const few = standOut.slice(0, FEW);
    const shown = this._sorted(this._isLong ? plan.points : few);
    const caption = [
      t(
        '%1 of %2 clusters within the limits; predicted means, with 80 % intervals',
        format(shown.length, 'count'),
        format(plan.numCandidates, 'count')
      ),
      plan.points.some(point => point.jobS !== null)
        ? t(
            "job times and costs have this machine's start-up and end: a cloud's own add minutes"
          )
        : ''
    ];
    const columns = COLUMNS.filter(
      ({ isOfJob }) => isOfJob !== true || plan.steps !== null
    );
    const rows = shown.map(point =>
      this._row(point, columns, point === chosen)
    );
    const table = h(
      'table',
      {},
      h('caption', {}, caption.filter(Boolean).join('; ')),
      h('thead', {}, h('tr', {}, ...columns.map(column => this._head(column)))),
      h('tbody', {}, ...rows)
    );
    keepFocus(this._scroll, () => {
      this._scroll.replaceChildren(table);
    });
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

  private _sorted(points: readonly IPointInfo[]): readonly IPointInfo[] {
    const column = this._sortBy;
    if (column === null) {
      return points;
    }
    const sign = this._isDescending ? -1 : 1;
    return [...points].sort((one, other) => {
      const [a, b] = [column.of(one), column.of(other)];
      if (a === null || b === null) {
        return Number(a === null) - Number(b === null);
      }
      return typeof a === 'number' && typeof b === 'number'
        ? sign * (a - b)
        : sign * String(a).localeCompare(String(b));
    });
  }

  private _head(column: IColumn): HTMLElement {
    const isSorted = column === this._sortBy;
    const direction = this._isDescending ? 'descending' : 'ascending';
    return h(
      'th',
      { scope: 'col', 'aria-sort': isSorted ? direction : null },
      button(t(column.name), () => {
        this._isDescending = isSorted && !this._isDescending;
        this._sortBy = column;
        this._again();
      })
    );
  }

  private _row(
    point: IPointInfo,
    columns: readonly IColumn[],
    isChosen: boolean
  ): HTMLElement {
    const choose = button(
      pointWords(point),
      () => {
        this._onChoose(point);
        // a row that was there for its choice alone is gone
        this.element
          .querySelector<HTMLElement>('button[aria-pressed="true"]')
          ?.focus();
      },
      { 'aria-pressed': String(isChosen) }
    );
    const cells = columns.flatMap(({ text }) =>
      text === undefined ? [] : [h('td', {}, text(point))]
    );
    return h(
      'tr',
      { class: isChosen ? 'smtc-plan-chosen' : null },
      h('th', { scope: 'row' }, choose),
      ...cells
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
  private _isDescending = false;
  private _sortBy: IColumn | null = null;
  private _again = (): void => undefined;
}
