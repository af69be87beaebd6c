import { readWire } from '@smtc-lab/protocol';
import { describe, expect, it } from 'vitest';
import fixture from '../../../tests/fixtures/plan_info.json';
import { exactly } from '../src/plan/geometry.js';
import { pointMark } from '../src/plan/marks.js';

describe('the name of a cluster on the chart', () => {
  const [named] = readWire('PlanInfo', fixture).points;

  it.each([
    [300, 'start', '508'],
    [20, 'end', '492']
  ])('with %i pixels to its right begins at its %s', (room, anchor, x) => {
    if (named === undefined) {
      throw new Error('the fixture has no cluster');
    }
    const place = { x: exactly(500), y: exactly(100), room };

    const name = pointMark(named, place, false).querySelector('text');

    expect(name?.textContent).toBe('fastest');
    expect(name?.getAttribute('text-anchor')).toBe(anchor);
    expect(name?.getAttribute('x')).toBe(x);
  });

  it('goes over several lines where there is room on neither side', () => {
    if (named === undefined) {
      throw new Error('the fixture has no cluster');
    }
    const place = { x: exactly(130), y: exactly(100), room: 100 };
    const names = ['best', 'cheapest', 'fastest', 'knee'];

    const mark = pointMark({ ...named, names }, place, false);

    const lines = [...mark.querySelectorAll('text')];
    expect(lines.map(line => line.textContent)).toEqual([
      'best,',
      'cheapest,',
      'fastest, knee'
    ]);
    expect(lines.map(line => line.getAttribute('y'))).toEqual([
      '62',
      '75',
      '88'
    ]);
  });
});
