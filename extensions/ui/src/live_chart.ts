import {
  listField,
  objectOf,
  textField,
  wordField,
  type JsonObject
} from '@smtc-lab/protocol';
import { Chart } from './charts/chart.js';
import {
  EVIDENCE,
  UNITS,
  type Evidence,
  type IAxis,
  type IChart
} from './charts/options.js';
import { Feed } from './live/feed.js';
import type { Table } from './live/table.js';
import type { IModel, IView } from './model.js';

/**
 * One chart of rows that Python pushes.
 *
 * Mirrors `smtc_lab.views.widgets.live_chart`.
 */
export const liveChart: IView = {
  initialize(model): Feed {
    return new Feed(model);
  },
  render({ model, el, state }): () => void {
    const feed = state as Feed;
    const chart = new Chart({
      title: textOf(model, 'title'),
      x: axisOf(model, 'x'),
      y: axisOf(model, 'y')
    });
    el.append(chart.element);
    const show = (table: Table): void => {
      addSeries(chart, table, model);
    };
    feed.tables.forEach(show);
    const leave = feed.onTable(show);
    return () => {
      leave();
      chart.dispose();
    };
  }
};

function addSeries(chart: IChart, table: Table, model: IModel): void {
  const [x = ''] = table.columns;
  const series = listField(valueOf(model, 'series'), 'series', parseSeries);
  series.forEach(({ label, evidence }, color) => {
    const y = table.columns[color + 1];
    if (y !== undefined) {
      chart.add({ label, table, x, y, as: 'line', evidence, color });
    }
  });
}

function parseSeries(json: unknown): { label: string; evidence: Evidence } {
  const series = objectOf(json, 'A series');
  return {
    label: textField(series, 'label'),
    evidence: wordField(series, 'evidence', EVIDENCE)
  };
}

function axisOf(model: IModel, name: 'x' | 'y'): IAxis {
  const unit = `${name}_unit`;
  return {
    label: textOf(model, `${name}_label`),
    unit: wordField(valueOf(model, unit), unit, UNITS)
  };
}

function textOf(model: IModel, name: string): string {
  return textField(valueOf(model, name), name);
}

function valueOf(model: IModel, name: string): JsonObject {
  return { [name]: model.get(name) };
}
