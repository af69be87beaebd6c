import { beforeEach, describe, expect, it } from 'vitest';
import { Chart } from '../src/charts/chart.js';
import { FigureView } from '../src/charts/figure_view.js';
import { Link, Links, type ILinked } from '../src/charts/link.js';
import type { IRange } from '../src/charts/ranges.js';
import { count, seriesOf, tableOf } from './tables.js';

const STEP = { label: 'step', unit: 'count' } as const;
const TIME = { label: 'time', unit: 's' } as const;

class Seen implements ILinked {
  x: number | null = null;
  part: IRange | null = null;

  pointAt(x: number | null): void {
    this.x = x;
  }

  see(part: IRange | null): void {
    this.part = part;
  }
}

describe('figures with the same x axis', () => {
  it('are linked, and those with another one are not', () => {
    const links = new Links();

    expect(links.of(STEP)).toBe(links.of({ ...STEP }));
    expect(links.of(STEP)).not.toBe(links.of(TIME));
  });

  it('share the cursor', () => {
    const link = new Link();
    const [one, other] = [new Seen(), new Seen()];
    link.add(one);
    link.add(other);

    link.point(7, one);

    expect([one.x, other.x]).toEqual([null, 7]);
    link.remove(other);
    link.point(8, one);
    expect(other.x).toBe(7);
  });

  it('share the zoom, also with one that comes later or has no rows yet', () => {
    const link = new Link();
    let extent: IRange | null = null;
    const first = { extent: () => ({ from: 0, to: 100 }) };
    const later = { extent: (): IRange | null => extent };
    const one = new FigureView(new Seen(), first, link);
    one.change((view, all) => {
      view.zoomTo({ from: 20, to: 30 }, all);
    });

    const other = new FigureView(new Seen(), later, link);
    expect(other.seen).toBeNull();
    extent = { from: 0, to: 50 };

    expect(other.seen).toEqual({ from: 20, to: 30 });
    other.see(null);
    expect(other.seen).toEqual(extent);
  });
});

describe('linked charts', () => {
  let charts: readonly Chart[];

  beforeEach(() => {
    const links = new Links();
    charts = ['Step time', 'Cost'].map(title => {
      const y = { label: 'seconds', unit: 's' } as const;
      const chart = new Chart({ title, x: STEP, y, link: links.of(STEP) });
      chart.add(seriesOf(tableOf({ x: count(100), y: count(100) })));
      return chart;
    });
    document.body.replaceChildren(...charts.map(({ element }) => element));
  });

  const isWhole = (chart: Chart | undefined): string | null | undefined =>
    chart?.element
      .querySelector('[aria-label="Zoom out"]')
      ?.getAttribute('aria-disabled');

  it('zoom together, by the keys too', () => {
    const [one, other] = charts;
    const stage = one?.element.querySelector('.smtc-chart-stage');
    const press = (key: string): void => {
      stage?.dispatchEvent(new KeyboardEvent('keydown', { key }));
    };
    expect(charts.map(isWhole)).toEqual(['true', 'true']);

    press('+');
    expect(charts.map(isWhole)).toEqual(['false', 'false']);
    press('0');
    expect(charts.map(isWhole)).toEqual(['true', 'true']);

    other?.dispose();
    press('+');
    expect(isWhole(one)).toBe('false');
  });
});
