import { expect, it } from 'vitest';
import { HeatContent } from '../src/charts/heat_content.js';
import { HeatMap } from '../src/charts/heat_map.js';
import { SvgPen } from '../src/charts/svg_pen.js';
import type { ITheme } from '../src/charts/theme.js';
import { count, seriesOf, tableOf } from './tables.js';

const X = { label: 'time', unit: 's' } as const;
const THEME: ITheme = {
  ink: 'black',
  muted: 'gray',
  paper: 'white',
  grid: 'silver',
  shade: 'silver',
  font: 'serif',
  colors: ['blue'],
  parts: []
};

function contentOf(...rows: (readonly number[])[]): HeatContent {
  const content = new HeatContent('Utilization', X, {
    label: 'busy',
    unit: 'fraction'
  });
  rows.forEach((y, place) => {
    const table = tableOf({ x: count(y.length), y });
    content.add(seriesOf(table, { label: `host ${place}` }));
  });
  return content;
}

function boxesOf(content: HeatContent, color: string): Element[] {
  const seen = { from: 0, to: 2 };
  const y = content.arrange(seen, 300);
  const pen = new SvgPen(300, 100, 'serif');
  const area = { left: 0, top: 0, width: 300, height: 100 };
  content.paint(pen, { area, x: seen, y }, THEME);
  return [...pen.svg.querySelectorAll(`rect[fill=${color}]`)];
}

it('tells a value by height and strength, not by colour alone', () => {
  const boxes = boxesOf(contentOf([0.1, 0.9, 0.9]), 'blue');
  const heights = boxes.map(box => Number(box.getAttribute('height')));
  const strengths = boxes.map(box => Number(box.getAttribute('fill-opacity')));

  expect(Math.max(...heights) / Math.min(...heights)).toBeCloseTo(9);
  expect(new Set(strengths).size).toBe(2);
});

it('leaves out what is not known', () => {
  expect(boxesOf(contentOf([NaN, NaN, NaN]), 'blue')).toHaveLength(0);
});

it('reads out all rows at once', () => {
  expect(contentOf([0.5, 0.25], [1, 0.75]).readout(1)).toEqual({
    x: 1,
    lines: [
      { label: 'host 0', text: '25 %', color: null },
      { label: 'host 1', text: '75 %', color: null }
    ]
  });
});

it('says where a row comes from unless it was measured', () => {
  const content = contentOf();
  const table = tableOf({ x: [0], y: [1] });
  content.add(seriesOf(table, { label: 'a' }));
  content.add(seriesOf(table, { label: 'b', evidence: 'emulated' }));

  expect(content.rows).toEqual(['a', 'b (emulated)']);
});

it('grows with its rows', () => {
  const map = new HeatMap({ title: 'Utilization', x: X, label: 'busy' });
  const stage = map.element.querySelector<HTMLElement>('.smtc-chart-stage');
  const heightWith = (label: string): number => {
    const table = tableOf({ x: [0], y: [1] });
    map.add({ label, table, x: 'x', y: 'y', evidence: 'measured' });
    return parseInt(stage?.style.height ?? '', 10);
  };

  expect(heightWith('a')).toBeLessThan(heightWith('b'));
  map.dispose();
});
