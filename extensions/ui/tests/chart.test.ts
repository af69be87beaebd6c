import { plainText } from '@smtc-lab/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { Chart } from '../src/charts/chart.js';
import { csvLine, fileName } from '../src/charts/save.js';
import { SeriesContent } from '../src/charts/series_content.js';
import { SvgPen } from '../src/charts/svg_pen.js';
import { HOSTILE, markupOf } from './hostile.js';
import { count, seriesOf, tableOf } from './tables.js';

const OPTIONS = {
  title: 'Step time',
  x: { label: 'step', unit: 'count' },
  y: { label: 'step time', unit: 's' }
} as const;

function button(chart: Chart, name: string): HTMLButtonElement {
  const found = [...chart.element.querySelectorAll('button')].find(
    one => (one.getAttribute('aria-label') ?? one.textContent) === name
  );
  if (found === undefined) {
    throw new Error(`There is no button ${name}`);
  }
  return found;
}

describe('Chart', () => {
  let chart: Chart;

  beforeEach(() => {
    chart = new Chart(OPTIONS);
    document.body.replaceChildren(chart.element);
  });

  it('has a figure with a name', () => {
    const id = chart.element.getAttribute('aria-labelledby') ?? '';

    expect(document.getElementById(id)?.textContent).toBe('Step time');
  });

  it('never makes markup of a name', () => {
    const table = tableOf({ x: [0], y: [1] });
    chart.add(seriesOf(table, { label: 'loss' }));
    const usual = markupOf(chart.element);

    for (const label of HOSTILE) {
      chart.add(seriesOf(table, { label }));
      expect(chart.element.textContent).toContain(plainText(label));
    }

    expect(markupOf(chart.element)).toEqual(usual);
  });

  it('tells measured from emulated by a word', () => {
    chart.add(seriesOf(tableOf({ x: [0], y: [1] })));
    chart.add(seriesOf(tableOf({ x: [0], y: [1] }), { evidence: 'emulated' }));

    const words = [...chart.element.querySelectorAll('.smtc-chart-evidence')];
    expect(words.map(word => word.textContent)).toEqual([
      'measured',
      'emulated'
    ]);
  });

  it('says of a series whether it is shown', () => {
    chart.add(seriesOf(tableOf({ x: [0], y: [1] })));
    const name = chart.element.querySelector<HTMLButtonElement>(
      '.smtc-chart-legend button'
    );
    name?.click();

    expect(name?.getAttribute('aria-pressed')).toBe('false');
  });

  it('is one stop of the tab key, whose buttons follow the arrows', () => {
    const [first, second] = chart.element.querySelectorAll<HTMLButtonElement>(
      '[role=toolbar] button'
    );
    first?.focus();
    first?.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true })
    );

    expect(document.activeElement).toBe(second);
    const stops = chart.element.querySelectorAll(
      '[role=toolbar] [tabindex="0"]'
    );
    expect([...stops]).toEqual([second]);
  });

  it('becomes a table', async () => {
    chart.add(seriesOf(tableOf({ x: [0, 1], y: [0.5, 0.25] })));
    button(chart, 'Show as a table').click();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);

    const cells = [...chart.element.querySelectorAll('table tr')].map(row =>
      [...row.children].map(cell => cell.textContent)
    );
    expect(cells).toEqual([
      ['step', 'homogeneous (measured)'],
      ['0', '500 ms'],
      ['1', '250 ms']
    ]);
    expect(chart.element.querySelector('caption')?.textContent).toContain(
      'Step time'
    );
  });

  it('can be paused until it has ended', () => {
    chart.add(seriesOf(tableOf({ x: [0, 1], y: [1, 1] })));
    const pause = button(chart, 'Pause');
    pause.click();
    expect(pause.getAttribute('aria-pressed')).toBe('true');
    expect(chart.element.textContent).toContain('paused');

    chart.end();
    expect(pause.hidden).toBe(true);
    expect(chart.element.textContent).toContain('ended');
  });

  it('lets go twice', () => {
    chart.dispose();
    chart.dispose();

    expect(document.body.children).toHaveLength(0);
  });
});

describe('SeriesContent', () => {
  it('reads out the row that is next', () => {
    const content = new SeriesContent(OPTIONS);
    content.add(seriesOf(tableOf({ x: [0, 10], y: [0.5, 2] })));

    expect(content.readout(7)).toEqual({
      x: 10,
      lines: [{ label: 'homogeneous', text: '2 s', color: 0 }]
    });
    content.add(
      seriesOf(tableOf({ x: [10], y: [1] }), { evidence: 'predicted' })
    );
    expect(content.readout(7)?.lines.map(({ label }) => label)).toEqual([
      'homogeneous (measured)',
      'homogeneous (predicted)'
    ]);
    expect(content.next(0, 1)).toBe(10);
    expect(content.next(0, -1)).toBeNull();
  });

  it('leaves out what is hidden, but not from the axis', () => {
    const content = new SeriesContent(OPTIONS);
    const series = seriesOf(tableOf({ x: [0, 10], y: [0.5, 2] }));
    content.add(series);
    content.toggle(series);

    expect(content.readout(7)).toBeNull();
    expect(content.extent()).toEqual({ from: 0, to: 10 });
  });

  it('bins a long table', () => {
    const content = new SeriesContent(OPTIONS);
    content.add(seriesOf(tableOf({ x: count(1_000), y: count(1_000) })));
    const { rows } = content.table({ from: 0, to: 999 }, 200);

    expect(rows).toHaveLength(200);
    expect(rows[0]).toEqual(['0', '2 s (0 s to 4 s)']);
  });

  it('writes all rows with names and units', () => {
    const content = new SeriesContent(OPTIONS);
    content.add(
      seriesOf(tableOf({ x: [0, 1], y: [0.5, NaN] }), { label: '=1+1, "x"' })
    );
    const lines = Array.from(content.csv(), csvLine);

    expect(lines).toEqual([
      'series,evidence,rows,step,step time (s),low,high\n',
      '"\'=1+1, ""x""",measured,1,0,0.5,,\n',
      '"\'=1+1, ""x""",measured,1,1,,,\n'
    ]);
  });

  it('says in a sentence what is seen', () => {
    const content = new SeriesContent(OPTIONS);
    content.add(seriesOf(tableOf({ x: [0, 1], y: [1, 3] })));
    content.arrange({ from: 0, to: 1 }, 100);

    expect(content.summary()).toBe(
      'step time, step 0 to 1. homogeneous (measured): mean 2 s, from 1 s to 3 s.'
    );
  });
});

describe('SvgPen', () => {
  const ink = { color: 'red' };

  it('breaks a line where a value is not known', () => {
    const pen = new SvgPen(10, 10, 'serif');
    pen.line(Float64Array.of(0, 1, 2, 3), Float64Array.of(5, NaN, 6, 7), ink);

    expect(pen.svg.querySelector('path')?.getAttribute('d')).toBe(
      'M0 5M2 6L3 7'
    );
  });

  it('writes names as text', () => {
    const pen = new SvgPen(10, 10, 'serif');
    for (const text of HOSTILE) {
      pen.text(text, 0, 0, { color: 'red', size: 10 });
    }

    expect(pen.toText()).toContain('&lt;img');
    expect(pen.toText()).toContain('xmlns="http://www.w3.org/2000/svg"');
    expect(pen.svg.querySelectorAll('text')).toHaveLength(HOSTILE.length);
    expect(pen.svg.querySelectorAll('text *')).toHaveLength(0);
  });

  const colorsOfLines = (content: SeriesContent): (string | null)[] => {
    const x = { from: 0, to: 9 };
    const y = content.arrange(x, 100);
    const pen = new SvgPen(100, 100, 'serif');
    const area = { left: 0, top: 0, width: 100, height: 100 };
    content.paint(
      pen,
      { area, x, y },
      {
        ink: 'black',
        muted: 'gray',
        paper: 'white',
        grid: 'silver',
        shade: 'silver',
        font: 'serif',
        colors: ['blue', 'orange'],
        parts: []
      }
    );
    const lines = [...pen.svg.querySelectorAll('path[fill=none]')];
    return lines.map(line => line.getAttribute('stroke'));
  };

  it('draws a line where a ratio says that nothing differs', () => {
    const table = tableOf({ x: [0, 9], y: [2, 3] });
    const y = { label: 'ratio', unit: 'ratio', including: 1 } as const;
    const ratio = new SeriesContent({ ...OPTIONS, y });
    ratio.add(seriesOf(table));
    const time = new SeriesContent({
      ...OPTIONS,
      y: { ...OPTIONS.y, including: 0 }
    });
    time.add(seriesOf(table));

    expect(colorsOfLines(ratio)).toEqual(['gray', 'blue']);
    expect(colorsOfLines(time)).toEqual(['blue']);
  });

  it('draws predicted series behind measured ones', () => {
    const content = new SeriesContent(OPTIONS);
    const table = tableOf({ x: [0, 9], y: [1, 2] });
    content.add(seriesOf(table));
    content.add(seriesOf(table, { evidence: 'predicted', color: 1 }));

    const colors = colorsOfLines(content);
    expect(colors.indexOf('orange')).toBeLessThan(colors.indexOf('blue'));
    // dotted: dots, the faint gaps between them, and the mark at its end
    expect(colors).toEqual(['orange', 'orange', 'blue', 'orange']);
  });
});

it.each([
  ['Step time', 'step-time.csv'],
  ['../../etc/passwd', 'etc-passwd.csv'],
  ['', 'chart.csv']
])('names the file of %s', (title, name) => {
  expect(fileName(title, 'csv')).toBe(name);
});
