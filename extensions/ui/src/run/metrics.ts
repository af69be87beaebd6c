import type { IMetricInfo, IRunInfo } from '@smtc-lab/protocol';
import { Links } from '../charts/link.js';
import { format } from '../charts/units.js';
import { h, newId } from '../dom.js';
import { t } from '../i18n.js';
import type { Feed } from '../live/feed.js';
import { Charts, type IDrawings, type NamedSeries } from '../monitor/charts.js';
import { factNodes, type Fact } from '../monitor/facts.js';
import { drawn, type IPart } from '../monitor/part.js';
import { folded } from '../monitor/section.js';
import { AXES, axesOf, type IAlong } from './metric_axes.js';

const WINDOWS = [1, 10, 50, 200];
const LONGEST_NAME = 60;

/**
 * A mean of so much of a metric would tell of its begin.
 */
const MOST_SMOOTHED = 0.25;

const VARIANT =
  /^(?:train|training|eval|evaluation|val|valid|validation|test)[/_.]/i;

/**
 * What the script logs: a chart for each metric, along steps, seconds, samples or dollars.
 */
export function metrics(feed: Feed): Required<IPart<IRunInfo>> {
  const view = new MetricCharts(feed);
  const section = folded(t('Metrics'), true, view);
  return {
    ...section,
    update(run) {
      section.element.hidden = run.metrics.length === 0 && !run.steps;
      section.update(run);
    }
  };
}

class MetricCharts implements IPart<IRunInfo> {
  readonly element: HTMLElement;

  constructor(private readonly _feed: Feed) {
    this._charts = new Charts(_feed, run => this._drawings(run), new Links());
    this._choices = h(
      'div',
      { class: 'smtc-row' },
      field(t('Horizontal axis'), this._axis),
      field(t('Smoothing'), this._window)
    );
    this._window.append(
      ...WINDOWS.map(rows =>
        h(
          'option',
          { value: rows },
          rows === 1 ? t('none') : t('means of %1 values', rows)
        )
      )
    );
    this.element = h(
      'div',
      { class: 'smtc-metrics' },
      this._choices,
      this._facts.element,
      this._charts.element
    );
  }

  update(run: IRunInfo): void {
    this._run = run;
    const isCounted = run.metrics.some(({ table }) => {
      const steps = this._feed.table(table)?.column('step');
      return (steps?.at(-1) ?? 0) > 0;
    });
    this._axes = axesOf(run, () => this._run ?? run).filter(
      ({ x }) => x !== 'step' || run.steps !== 0 || isCounted
    );
    const keys = this._axes.map(({ key }): string => key);
    if (keys.join() !== [...this._axis.options].map(one => one.value).join()) {
      this._axis.replaceChildren(
        ...this._axes.map(({ key, axis }) =>
          h('option', { value: key }, axis.label)
        )
      );
      const chosen = this._chosen;
      this._axis.value = keys.includes(chosen) ? chosen : (keys[0] ?? '');
    }
    this._choices.hidden = run.metrics.length === 0;
    this._facts.update(run);
    this._charts.update(run);
  }

  dispose(): void {
    this._charts.dispose();
  }

  private _drawings(run: IRunInfo): IDrawings {
    const place = Math.max(0, this._axis.selectedIndex);
    const { key, axis, shades, x, along } = this._axes[place] as IAlong;
    const window = Number(this._window.value);
    const { evidence } = run;
    const isThere = ({ table }: IMetricInfo): boolean =>
      this._feed.table(table) !== undefined;
    const charts = groupsOf(run.metrics.filter(isThere)).map(
      ([title, group]) => {
        const series = group.map(
          ({ name, table, points }, color): NamedSeries => ({
            ...{ table, label: short(name), x, along, y: 'value' },
            ...{ evidence, color, window },
            as:
              window > 1 && window <= MOST_SMOOTHED * points
                ? 'rolling'
                : 'line'
          })
        );
        const numSmoothed = series.filter(one => one.as === 'rolling').length;
        return {
          title,
          x: axis,
          y: { label: title, unit: 'number' as const },
          height: 160,
          // what is drawn in another way is another chart
          edition: 1000 * (100 * numSmoothed + AXES.indexOf(key)) + window,
          shades,
          series
        };
      }
    );
    return { charts, note: noteOf(run) };
  }

  private readonly _redraw = (): void => {
    if (this._run !== null) {
      this._charts.update(this._run);
    }
  };
  private readonly _axis = h('select', {
    onchange: () => {
      this._chosen = this._axis.value;
      this._redraw();
    }
  });
  private readonly _window = h('select', { onchange: this._redraw });
  private readonly _facts = drawn<IRunInfo>(h('div', {}), factsOf);
  private readonly _choices: HTMLElement;
  private readonly _charts: Charts<IRunInfo>;
  private _axes: readonly IAlong[] = [];
  private _chosen = '';
  private _run: IRunInfo | null = null;
}

function field(label: string, control: HTMLElement): HTMLElement {
  control.id = newId();
  return h(
    'span',
    { class: 'smtc-field' },
    h('label', { for: control.id }, label),
    control
  );
}

/**
 * Return the metrics of each chart by its title, losses first: one metric, or what training and
 * evaluation call alike.
 */
function groupsOf(
  metrics: readonly IMetricInfo[]
): readonly (readonly [string, readonly IMetricInfo[]])[] {
  const groups = new Map<string, IMetricInfo[]>();
  for (const metric of metrics) {
    const title = short(metric.name.replace(VARIANT, ''));
    groups.set(title, [...(groups.get(title) ?? []), metric]);
  }
  const isLoss = ([title]: readonly [string, unknown]): boolean =>
    /loss$/i.test(title);
  const all = [...groups];
  return [...all.filter(isLoss), ...all.filter(one => !isLoss(one))];
}

function factsOf({ metrics }: IRunInfo): readonly Node[] {
  const write = (value: number | null): string =>
    value === null ? t('no number') : format(value, 'number');
  const facts = metrics.map(
    ({ name, last, least, greatest, points }): Fact => [
      short(name),
      write(last),
      least === null
        ? t('no number among %1 values', format(points, 'count'))
        : t(
            'the last of %1 values, %2 to %3',
            format(points, 'count'),
            write(least),
            write(greatest)
          )
    ]
  );
  return facts.length === 0
    ? []
    : [h('dl', { class: 'smtc-facts' }, ...factNodes(facts))];
}

function noteOf({ metrics, metricsLeftOut }: IRunInfo): string {
  if (metrics.length === 0) {
    return t(
      'The script logs no metric. session.log(loss=loss) draws its loss here.'
    );
  }
  return metricsLeftOut === 0
    ? ''
    : t(
        '%1 more metrics are not drawn; they are among the records.',
        format(metricsLeftOut, 'count')
      );
}

function short(name: string): string {
  return name.length > LONGEST_NAME
    ? `${name.slice(0, LONGEST_NAME - 1)}…`
    : name;
}
