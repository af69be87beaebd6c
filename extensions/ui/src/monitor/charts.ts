import { Chart } from '../charts/chart.js';
import { HeatMap } from '../charts/heat_map.js';
import type { IEndLabel } from '../charts/end_labels.js';
import type { Links } from '../charts/link.js';
import type { IChartOptions, ISeries, IShade } from '../charts/options.js';
import { h } from '../dom.js';
import type { Table } from '../live/table.js';
import type { IStanding } from './kind.js';
import type { IPart } from './part.js';
import type { Subject } from './subject.js';
import { PredictedSteps, type IPrediction } from './predicted.js';

/**
 * A series by the name of its table, which may not be there yet.
 */
export type NamedSeries = Omit<ISeries, 'table'> & { readonly table: string };

/**
 * Where tables come from.
 */
export interface ITables {
  /**
   * Return a table, or undefined: no row of it has come yet.
   */
  table(name: string): Table | undefined;

  /**
   * Ask for rows in more detail.
   */
  read(table: string, first: number, end: number, most: number): void;
}

/**
 * What a chart is to show.
 */
export interface IDrawing extends Omit<IChartOptions, 'read' | 'link'> {
  /**
   * What no other chart of the same part has; left out: the title.
   */
  readonly key?: string;

  /**
   * Another one begins the chart anew.
   */
  readonly edition?: number;
  readonly series: readonly NamedSeries[];

  /**
   * What it is about; left out: it is among the first charts of its page.
   */
  readonly subject?: Subject;

  /**
   * Drawn behind the series, once there are steps.
   */
  readonly predicted?: readonly IPrediction[];
  readonly shades?: readonly IShade[];

  /**
   * What stands at the ends of the lines, in place of a legend.
   */
  readonly labels?: readonly IEndLabel[];

  /**
   * Whether it is a heat map of fractions.
   */
  readonly isHeat?: boolean;
  readonly isHidden?: boolean;
}

/**
 * Charts in their order, and what is said below them.
 */
export interface IDrawings {
  readonly charts: readonly IDrawing[];
  readonly note?: string;
}

interface IDrawn {
  readonly chart: Chart | HeatMap;
  readonly edition: number | undefined;
  readonly series: Set<string>;
  readonly predicted: Map<number, PredictedSteps>;
  shades: string;
  labels: string;
}

/**
 * Charts that are only described: whenever something is new, all that is not drawn yet is added.
 * Tables and news come in any order. A chart that was drawn once stays.
 */
export class Charts<T extends IStanding> implements IPart<T> {
  readonly element = h('div', { class: 'smtc-charts' });

  constructor(
    private readonly _feed: ITables,
    private readonly _describe: (info: T) => IDrawings,
    private readonly _links?: Links
  ) {
    this.element.append(this._note);
  }

  update(info: T): void {
    const { charts, note = '' } = this._describe(info);
    charts.forEach((drawing, place) => {
      const drawn = this._drawnOf(drawing);
      const { element } = drawn.chart;
      if (this.element.children[place] !== element) {
        this.element.insertBefore(
          element,
          this.element.children[place] ?? this._note
        );
      }
      element.hidden = drawing.isHidden ?? false;
      this._add(drawn, drawing);
    });
    this._note.textContent = note;
    this._note.hidden = note === '';
    if (info.ended) {
      this._drawn.forEach(({ chart }) => {
        chart.end();
      });
    }
  }

  dispose(): void {
    this._drawn.forEach(({ chart }) => {
      chart.dispose();
    });
    this._drawn.clear();
  }

  private _drawnOf(drawing: IDrawing): IDrawn {
    const key = drawing.key ?? drawing.title;
    let drawn = this._drawn.get(key);
    if (drawn !== undefined && drawn.edition !== drawing.edition) {
      drawn.chart.dispose();
      drawn.chart.element.remove();
      drawn = undefined;
    }
    if (drawn === undefined) {
      drawn = {
        chart: this._chart(drawing),
        edition: drawing.edition,
        series: new Set(),
        predicted: new Map(),
        shades: '[]',
        labels: '[]'
      };
      this._drawn.set(key, drawn);
    }
    return drawn;
  }

  private _chart(drawing: IDrawing): Chart | HeatMap {
    const { title, x, y } = drawing;
    if (drawing.isHeat) {
      const map = new HeatMap({ title, x, label: y.label });
      map.element.classList.add('smtc-wide');
      return map;
    }
    return new Chart({
      ...drawing,
      link: this._links?.of(x),
      read: (...request) => {
        this._feed.read(...request);
      }
    });
  }

  private _add(drawn: IDrawn, drawing: IDrawing): void {
    const { chart } = drawn;
    for (const series of drawing.series) {
      const table = this._feed.table(series.table);
      const key = `${series.table} ${series.y}`;
      if (table !== undefined && !drawn.series.has(key)) {
        drawn.series.add(key);
        chart.add({ ...series, table });
      }
    }
    for (const prediction of drawing.predicted ?? []) {
      if (prediction.of !== null && prediction.steps > 0) {
        let line = drawn.predicted.get(prediction.color);
        if (line === undefined) {
          line = new PredictedSteps(prediction);
          drawn.predicted.set(prediction.color, line);
          chart.add(line.series);
        }
        line.update(prediction);
      }
    }
    const shades = JSON.stringify(drawing.shades ?? []);
    if (shades !== drawn.shades && 'shade' in chart) {
      drawn.shades = shades;
      chart.shade(drawing.shades ?? []);
    }
    const labels = JSON.stringify(drawing.labels ?? []);
    if (labels !== drawn.labels && 'label' in chart) {
      drawn.labels = labels;
      chart.label(drawing.labels ?? []);
    }
  }

  private readonly _drawn = new Map<string, IDrawn>();
  private readonly _note = h('p', { class: 'smtc-note' });
}
