import type { IEndLabel } from '../src/charts/end_labels.js';
import type { ISeries, IShade } from '../src/charts/options.js';

/**
 * What the charts of a page were told to show, by their titles.
 */
export const charts = new Map<string, ISeries[]>();
export const shades = new Map<string, readonly IShade[]>();
export const marks = new Map<string, readonly (string | null)[]>();
export const endLabels = new Map<string, readonly IEndLabel[]>();

/**
 * A chart that draws nothing: jsdom has no canvas.
 */
export class Chart {
  readonly element = document.createElement('figure');

  constructor(private readonly _options: { title: string }) {
    charts.set(_options.title, []);
  }

  add(series: ISeries): void {
    charts.get(this._options.title)?.push(series);
  }

  shade(parts: readonly IShade[]): void {
    shades.set(this._options.title, parts);
  }

  label(labels: readonly IEndLabel[]): void {
    endLabels.set(this._options.title, labels);
  }

  mark(texts: readonly (string | null)[]): void {
    marks.set(this._options.title, texts);
  }

  end(): void {
    // nothing is drawn
  }

  dispose(): void {
    charts.delete(this._options.title);
    endLabels.delete(this._options.title);
    this.element.remove();
  }
}

export { Chart as HeatMap };
