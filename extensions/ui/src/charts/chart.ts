import { Figure } from './figure.js';
import { Legend } from './legend.js';
import { Older } from './older.js';
import type { IEndLabel } from './end_labels.js';
import type { IChart, IChartOptions, ISeries, IShade } from './options.js';
import { SeriesContent } from './series_content.js';

/**
 * A live chart of series.
 */
export class Chart implements IChart {
  readonly element: HTMLElement;

  constructor(options: IChartOptions) {
    const { title, height, read, link } = options;
    this._content = new SeriesContent(options);
    this._legend = new Legend(series => {
      this._content.toggle(series);
      this.schedule();
    });
    this._older = read === undefined ? null : new Older(read);
    this._figure = new Figure({
      title,
      height,
      link,
      content: this._content,
      legend: this._legend.element,
      onDrawn: (seen, columns) => {
        const rows = this._content.shown.map(series => series.table.numRows);
        this._legend.leaveOut(this._content.labelled);
        this.element.dataset['rows'] = String(Math.max(0, ...rows));
        if (this._figure.isZoomed) {
          this._older?.look(this._content.shown, seen, columns);
        }
      }
    });
    this.element = this._figure.element;
  }

  add(series: ISeries): void {
    this._content.add(series);
    this._legend.add(series);
    this._figure.follow(series.table);
  }

  shade(shades: readonly IShade[]): void {
    this._content.shades = shades;
    this.schedule();
  }

  label(labels: readonly IEndLabel[]): void {
    this._content.labels = labels;
    this.schedule();
  }

  schedule(): void {
    this._figure.schedule();
  }

  end(): void {
    this._figure.end();
  }

  dispose(): void {
    this._older?.dispose();
    this._figure.dispose();
  }

  private readonly _content: SeriesContent;
  private readonly _legend: Legend;
  private readonly _older: Older | null;
  private readonly _figure: Figure;
}
