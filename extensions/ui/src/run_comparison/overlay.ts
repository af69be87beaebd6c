import type {
  IComparedCurve,
  IComparedRun,
  IRunComparison
} from '@smtc-lab/protocol';
import { Chart } from '../charts/chart.js';
import type { IAxis, ISeries } from '../charts/options.js';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Table } from '../live/table.js';
import { Choice, letters, runLetter, runWords } from './words.js';

const COLUMNS = ['x', 'value', 'low', 'high'];
const WINDOWS = [1, 5, 20, 50];

/**
 * One metric of all runs in one chart.
 */
export class Overlay {
  readonly element: HTMLElement;

  constructor() {
    this._axis.offer([
      ['steps', t('step')],
      ['seconds', t('time since the begin')],
      ['samples', t('samples')],
      ['dollars', t('USD, start-up included')]
    ]);
    this._window.offer(
      WINDOWS.map(rows => [
        String(rows),
        rows === 1 ? t('none') : t('means of %1 values', rows)
      ])
    );
    this.element = h(
      'section',
      { 'aria-label': t('Metrics') },
      h(
        'div',
        { class: 'smtc-row' },
        this._metric.element,
        this._axis.element,
        this._window.element
      ),
      this._host,
      this._note
    );
  }

  /**
   * Show a comparison; what was chosen stays.
   */
  show(compared: IRunComparison): void {
    this._compared = compared;
    this.element.hidden = compared.metrics.length === 0;
    this._metric.offer(compared.metrics.map(name => [name, name]));
    this._draw();
  }

  dispose(): void {
    this._chart?.dispose();
  }

  private readonly _draw = (): void => {
    const compared = this._compared;
    if (compared === null || compared.metrics.length === 0) {
      return;
    }
    const metric = this._metric.value;
    const window = Number(this._window.value);
    this._chart?.dispose();
    const x = axisOf(this._axis.value);
    const y = { label: metric, unit: 'number' } as const;
    this._chart = new Chart({ title: metric, x, y, height: 300 });
    this._host.replaceChildren(this._chart.element);
    const left = new Set<IComparedRun>();
    compared.runs.forEach((run, color) => {
      const curve = curveOf(run, metric);
      const along = curve && placesOf(this._axis.value, run, curve);
      if (curve === undefined || !along?.length) {
        left.add(run);
        return;
      }
      this._chart?.add({
        ...{ label: runWords(run, color), color, window },
        ...{ table: tableOf(along, curve), x: 'x', y: 'value' },
        ...{ low: 'low', high: 'high', evidence: run.evidence ?? 'measured' },
        as: lookOf(curve, window)
      });
    });
    this._chart.end();
    this._note.replaceChildren(
      ...notesOf(compared, metric, left).map(text => h('div', {}, text))
    );
  };

  private readonly _metric = new Choice(t('Metric'), this._draw);
  private readonly _axis = new Choice(t('Horizontal axis'), this._draw);
  private readonly _window = new Choice(t('Smoothing'), this._draw);
  private readonly _host = h('div', {});
  private readonly _note = h('div', { class: 'smtc-note' });
  private _chart: Chart | null = null;
  private _compared: IRunComparison | null = null;
}

function curveOf(
  { curves }: IComparedRun,
  metric: string
): IComparedCurve | undefined {
  return curves.find(curve => curve.metric === metric);
}

function lookOf({ low }: IComparedCurve, window: number): ISeries['as'] {
  if (window > 1) {
    return 'rolling';
  }
  return low.length > 0 ? 'interval' : 'line';
}

function axisOf(key: string): IAxis {
  switch (key) {
    case 'seconds':
      return { label: t('time since the begin'), unit: 's' };
    case 'samples':
      return { label: t('samples'), unit: 'count' };
    case 'dollars':
      return { label: t('USD, start-up included'), unit: 'USD' };
    default:
      return { label: t('step'), unit: 'count' };
  }
}

function placesOf(
  key: string,
  { samplesPerStep }: IComparedRun,
  { step, timeS, usd }: IComparedCurve
): readonly (number | null)[] {
  switch (key) {
    case 'seconds':
      return timeS;
    case 'dollars':
      return usd;
    case 'samples':
      return samplesPerStep === null
        ? []
        : step.map(one => (one === null ? null : one * samplesPerStep));
    default:
      return step;
  }
}

function tableOf(
  along: readonly (number | null)[],
  { value, low, high }: IComparedCurve
): Table {
  const table = new Table('curve', COLUMNS);
  const columns = [
    along,
    value,
    low.length > 0 ? low : value,
    high.length > 0 ? high : value
  ];
  table.take({
    ...{ type: 'reset', table: 'curve', columns: COLUMNS, bins: null },
    rows: {
      first: 0,
      values: columns.map(column =>
        Float64Array.from(column, one => one ?? NaN)
      )
    }
  });
  return table;
}

function notesOf(
  compared: IRunComparison,
  metric: string,
  left: ReadonlySet<IComparedRun>
): readonly string[] {
  const has = (run: IComparedRun): boolean =>
    curveOf(run, metric) !== undefined;
  if (!compared.runs.some(has)) {
    return [t('The values of this metric are still being read, or damaged.')];
  }
  const without = letters(compared, run => left.has(run) && !has(run));
  const unknown = letters(compared, run => left.has(run) && has(run));
  const odd = compared.runs.flatMap((run, place) => {
    const { numValues = 0, numFinite = 0 } = curveOf(run, metric) ?? {};
    return numFinite === numValues
      ? []
      : [
          t(
            '%1: %2 of %3 values are no finite numbers.',
            runLetter(place),
            format(numValues - numFinite, 'count'),
            format(numValues, 'count')
          )
        ];
  });
  return [
    without && t('Not drawn, as they did not log it: %1.', without),
    unknown && t('Not drawn, as this axis is not known of them: %1.', unknown),
    ...odd
  ].filter(Boolean);
}
