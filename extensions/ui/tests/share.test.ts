import { readWire, type IComparisonInfo } from '@smtc-lab/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { IPen } from '../src/charts/pen.js';
import type { ITheme } from '../src/charts/theme.js';
import { shareButtons } from '../src/share/buttons.js';
import { CARD, drawCard } from '../src/share/card.js';
import { cut, wrapped } from '../src/share/fit.js';
import { showShared } from '../src/share/page.js';
import comparisonInfo from '../../../tests/fixtures/comparison_info.json';
import planInfo from '../../../tests/fixtures/plan_info.json';
import runInfo from '../../../tests/fixtures/run_info.json';
import { buttonIn, FakeModel } from './fake_model.js';
import { HOSTILE } from './hostile.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));
vi.mock('../src/charts/heat_map.js', async () => await import('./no_chart.js'));

const THEME: ITheme = {
  ink: 'black',
  muted: 'grey',
  paper: 'white',
  grid: 'silver',
  shade: 'silver',
  font: 'serif',
  colors: ['blue', 'orange', 'green', 'pink', 'red'],
  parts: []
};
const INFO = readWire('ComparisonInfo', comparisonInfo);

interface IWritten {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function widthOf(text: string, size: number): number {
  return Array.from(text).length * size * 0.6;
}

/**
 * Return the texts of a card, each with the place that it takes.
 */
function textsOf(info: IComparisonInfo): readonly IWritten[] {
  const texts: IWritten[] = [];
  const nothing = (): void => undefined;
  const pen: IPen = {
    line: nothing,
    band: nothing,
    bars: nothing,
    marks: nothing,
    boxes: nothing,
    within: nothing,
    text: (text, left, top, { size }) => {
      const right = left + widthOf(text, size);
      const half = size * 0.6;
      texts.push({ text, left, right, top: top - half, bottom: top + half });
    }
  };
  drawCard(pen, info, THEME, size => text => widthOf(text, size));
  return texts;
}

function overlap(a: IWritten, b: IWritten): boolean {
  return (
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
  );
}

function isTidy(texts: readonly IWritten[]): boolean {
  return texts.every(
    (one, place) =>
      one.left >= 0 &&
      one.right <= CARD.width &&
      one.top >= 0 &&
      one.bottom <= CARD.height &&
      texts.slice(place + 1).every(other => !overlap(one, other))
  );
}

describe('a text that has to fit', () => {
  const measure = (text: string): number => text.length;

  it('is cut with an ellipsis, and never wider than its room', () => {
    expect(cut('abc', 3, measure)).toBe('abc');
    expect(cut('abcdef', 4, measure)).toBe('abc…');
    expect(cut('ab cdef', 4, measure)).toBe('ab…');
    expect(cut('abc', 0, measure)).toBe('…');
  });

  it('is wrapped at words, and cut where lines end', () => {
    expect(wrapped('one two three', 7, 2, measure)).toEqual([
      'one two',
      'three'
    ]);
    expect(wrapped('one two three', 7, 1, measure)).toEqual(['one tw…']);
    expect(wrapped('abcdefghi', 4, 3, measure)).toEqual(['abc…']);
    expect(wrapped('', 4, 3, measure)).toEqual([]);
  });
});

describe('the card of a comparison', () => {
  it('has the sentence, the numbers, what they are, and the prices', () => {
    const texts = textsOf(INFO).map(({ text }) => text);

    expect(texts.join(' ')).toContain('4.2× faster than homogeneous');
    expect(texts).toEqual(
      expect.arrayContaining(['emulated', 's/step', 'speed-up', '4.2×'])
    );
    expect(texts.join(' ')).toContain('ml.p3.2xlarge 3.825 USD/h');
    expect(isTidy(textsOf(INFO))).toBe(true);
  });

  it('says how many set-ups it leaves out', () => {
    const [first] = INFO.setUps;
    const setUps = Array.from({ length: 5 }, () => first as never);

    const texts = textsOf({ ...INFO, setUps }).map(({ text }) => text);

    expect(texts).toContainEqual(expect.stringMatching(/^and 2 more/));
  });

  it('stays tidy whatever its texts are', () => {
    const [first] = INFO.setUps;
    for (const text of HOSTILE) {
      const long = `${text} `.repeat(40);
      const setUps = Array.from({ length: 9 }, () => ({
        ...(first as (typeof INFO.setUps)[number]),
        label: long
      }));
      const rows = ['s/step', 'speed-up', 'saving per step'].map(label => ({
        label,
        cells: setUps.map(() => [`${long} (${long})`])
      }));
      const texts = textsOf({
        ...INFO,
        name: long,
        entryPoint: long,
        sentence: long,
        scale: long,
        notes: [`Prices ${long}`],
        setUps,
        rows
      });

      expect(isTidy(texts), text).toBe(true);
    }
  });
});

describe('the buttons that share a picture', () => {
  it('are there once there are numbers', () => {
    const model = new FakeModel({ result: '' });
    const part = shareButtons(model);
    part.update(INFO);
    expect(part.element.childElementCount).toBe(0);

    model.set('result', '{}');
    part.update(INFO);

    expect(part.element.textContent).toBe('Copy pictureSave picture');
  });

  it('say what to do where nothing can be copied', async () => {
    const part = shareButtons(new FakeModel({ result: '{}' }));
    part.update(INFO);

    buttonIn(part.element, 'Copy picture').click();

    await vi.waitFor(() => {
      expect(part.element.textContent).toContain('Save it instead.');
    });
  });
});

describe('a page that was shared', () => {
  const show = (data: unknown): HTMLElement => {
    const place = document.createElement('main');
    place.id = 'smtc-shared';
    const script = document.createElement('script');
    script.type = 'application/json';
    script.id = 'smtc-shared-data';
    script.textContent = typeof data === 'string' ? data : JSON.stringify(data);
    document.body.replaceChildren(place, script);
    showShared(document);
    return place;
  };

  afterEach(() => {
    document.body.replaceChildren();
  });

  it.each([
    ['run', { version: 1, info: runInfo, tables: {} }, runInfo.job_name],
    ['plan', planInfo, planInfo.sentence],
    [
      'comparison',
      { version: 2, info: comparisonInfo, tables: {}, comparison: {} },
      comparisonInfo.sentence
    ],
    [
      'scaling',
      { version: 2, kind: 'scaling', info: comparisonInfo, tables: {} },
      comparisonInfo.name
    ]
  ])('shows a %s', (_, saved, words) => {
    expect(show({ saved, text: '' }).textContent).toContain(words);
  });

  it('that cannot be read shows its words, and why', () => {
    const place = show({ saved: { version: 9, info: {} }, text: 'so it is' });

    expect(place.textContent).toMatch(/cannot be shown.*version 9/);
    expect(place.querySelector('pre')?.textContent).toBe('so it is');
    expect(show('{').textContent).toContain('cannot be shown');
  });
});
