import { describe, expect, it } from 'vitest';
import { roomFor, spread } from '../src/charts/end_labels.js';
import { SeriesContent } from '../src/charts/series_content.js';
import { SvgPen } from '../src/charts/svg_pen.js';
import { seriesOf, tableOf } from './tables.js';

const LABELS = [
  { color: 0, text: 'A 748 ms' },
  { color: 1, text: 'B 95 ms' }
];
const COLORS = ['#000', '#111', '#222', '#333', '#444'];
const THEME = {
  ...{ ink: '#000', muted: '#555', paper: '#fff', grid: '#eee' },
  ...{ shade: '#ddd', font: 'sans-serif', colors: COLORS, parts: [] }
};

function content(): SeriesContent {
  const found = new SeriesContent({
    title: 'Step time',
    x: { label: 'step', unit: 'count' },
    y: { label: 'step time', unit: 's', including: 0 }
  });
  found.labels = LABELS;
  [0.7, 0.1].forEach((y, color) => {
    found.add(seriesOf(tableOf({ x: [0, 9], y: [y, y] }), { color }));
  });
  found.add(
    seriesOf(tableOf({ x: [0, 9], y: [0.6, 0.6] }), { evidence: 'predicted' })
  );
  return found;
}

function textsOf(found: SeriesContent): (string | null)[] {
  const seen = { from: 0, to: 9 };
  const y = found.arrange(seen, 400);
  const pen = new SvgPen(500, 200, 'sans-serif');
  const area = { left: 40, top: 8, width: 400, height: 180 };
  found.paint(pen, { area, x: seen, y }, THEME);
  return [...pen.svg.querySelectorAll('text')].map(text => text.textContent);
}

describe('labels at the ends of lines', () => {
  it('stand there where there is room, in the order of the lines', () => {
    const found = content();

    expect(found.roomFor(400)).toBeGreaterThan(40);
    expect(textsOf(found)).toEqual(['A 748 ms', 'B 95 ms']);
    expect(found.labelled.map(({ evidence }) => evidence)).toEqual([
      'measured',
      'measured'
    ]);
  });

  it('leave the names to the legend where the plot is narrow', () => {
    const found = content();

    expect(found.roomFor(260)).toBe(0);
    expect(textsOf(found)).toEqual([]);
    expect(found.labelled).toEqual([]);
  });

  it('are four at most', () => {
    const five = [0, 1, 2, 3, 4].map(color => ({ color, text: 'A' }));

    expect(roomFor(five, 1_000)).toBe(0);
    expect(roomFor(five.slice(1), 1_000)).toBeGreaterThan(0);
  });

  it('do not stand over each other, nor beyond the plot', () => {
    expect(spread([10, 12, 90], 0, 100)).toEqual([10, 24, 90]);
    expect(spread([95, 98, 99], 0, 100)).toEqual([72, 86, 100]);
    expect(spread([], 0, 100)).toEqual([]);
  });
});
