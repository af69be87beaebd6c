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

it('says once where all rows come from', () => {
  const content = new HeatContent(
    'Work',
    X,
    { label: 'share (emulated)', unit: 'fraction' },
    'emulated'
  );
  const table = tableOf({ x: [0], y: [1] });
  content.add(seriesOf(table, { label: 'a', evidence: 'emulated' }));
  content.add(seriesOf(table, { label: 'b', evidence: 'predicted' }));

  expect(content.rows).toEqual(['a', 'b (predicted)']);
});

it('outlines a marked row, and writes its mark in place of the last value', () => {
  const content = contentOf([0.5, 0.5], [1, 1]);
  content.mark([null, '+29 %']);

  const boxes = boxesOf(content, 'black');
  expect(boxes).toHaveLength(4);
  const texts = [...(boxes[0]?.closest('svg')?.querySelectorAll('text') ?? [])];
  expect(texts.map(text => text.textContent)).toEqual(['50 %', '+29 %']);
});

it('tells the highest of many rows, and of the others from what to what', () => {
  const content = contentOf(...count(64).map(row => [row / 64, row / 64]));

  const lines = content.readout(0)?.lines ?? [];

  expect(lines).toHaveLength(12);
  expect(lines[0]?.label).toBe('host 53');
  expect(lines.at(-1)).toEqual({
    label: '53 others',
    text: '0 % to 81.3 %',
    color: null
  });
  boxesOf(content, 'blue');
  content.mark(count(64).map(row => (row === 40 ? '+9 %' : null)));
  expect(content.summary()).toContain('. host 40 (measured): mean 62.5 %');
  expect(content.summary()).toMatch(/53 others\.$/);
});

it('is never lower with more rows', () => {
  const map = new HeatMap({ title: 'Work', x: X, label: 'own' });
  const stage = map.element.querySelector<HTMLElement>('.smtc-chart-stage');
  const heights = count(64).map(row => {
    const table = tableOf({ x: [0], y: [1] });
    map.add({
      label: `rank ${row}`,
      table,
      x: 'x',
      y: 'y',
      evidence: 'measured'
    });
    return parseInt(stage?.style.height ?? '', 10);
  });

  expect(heights).toEqual([...heights].sort((a, b) => a - b));
  expect(heights.at(-1)).toBeLessThan(900);
  map.dispose();
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
