import { describe, expect, it } from 'vitest';
import fixture from '../../../tests/fixtures/frames.json';
import {
  decodeColumns,
  isFrame,
  parseFrame,
  type IFrame
} from '../src/index.js';

function read(told: {
  readonly content: unknown;
  readonly buffers: readonly string[];
}): IFrame {
  const views = told.buffers.map(text => {
    const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    return new DataView(bytes.buffer);
  });
  return parseFrame(told.content, views);
}

describe('frames that Python wrote', () => {
  it('have rows that follow each other', () => {
    const frames = fixture.from_begin.frames.map(read);

    expect(frames.map(({ rows }) => rows.first)).toEqual([0, 2, 6]);
    expect(frames[0]?.columns).toEqual(['x', '<b>y</b>']);
    expect([...(frames[0]?.rows.values[1] as Float64Array)]).toEqual([
      1.5,
      NaN
    ]);
    expect([...(frames[1]?.rows.values[1] as Float64Array)]).toEqual([
      2.5,
      -3,
      NaN,
      1e300
    ]);
  });

  it('have a reset with the last rows, and the others in bins', () => {
    const [frame] = fixture.late.frames.map(read);

    expect(frame?.type).toBe('reset');
    expect(frame?.rows.first).toBe(24);
    expect([...(frame?.rows.values[0] as Float64Array)]).toEqual([24, 25, 26]);
    expect(frame?.bins?.width).toBe(4);
    expect([...(frame?.bins?.low[0] as Float64Array)]).toEqual([
      0, 4, 8, 12, 16, 20
    ]);
  });

  it('have a part with bins and no rows', () => {
    const frame = read(fixture.part);

    expect(frame.type).toBe('part');
    expect(frame.rows.values[0]).toHaveLength(0);
    expect(frame.bins?.width).toBe(2);
    expect([...(frame.bins?.low[1] as Float64Array)]).toEqual([1.5, -3]);
  });
});

describe('parseFrame', () => {
  const head = { type: 'rows', table: 't', columns: ['x'], first: 0 };
  const buffer = new DataView(new ArrayBuffer(16));

  it.each([
    [{ ...head, type: 'row' }, /type="row".*rows, reset, part/],
    [{ ...head, first: null }, /first=null.*finite number/],
    [{ ...head, columns: [1] }, /columns\[0\]=1, but needs text/],
    [{ ...head, columns: [] }, /1 buffers and 0 columns/],
    [{ ...head, columns: ['x', 'y', 'z'] }, /16 bytes does not hold 3 columns/],
    [null, /FrameHead is null/]
  ])('refuses %j', (content, message) => {
    expect(() => parseFrame(content, [buffer])).toThrow(message);
  });

  it('needs a buffer', () => {
    expect(() => parseFrame(head, [])).toThrow(/0 buffers.*Rebuild/);
  });

  it.each([{}, null, 'rows', { type: 'resync' }])(
    'knows that %j is no frame',
    json => {
      expect(isFrame(json)).toBe(false);
    }
  );
});

describe('decodeColumns', () => {
  it('reads a buffer at any place in memory', () => {
    const values = Float64Array.of(1, 2, 3, 4);
    const bytes = new Uint8Array(40);
    bytes.set(new Uint8Array(values.buffer), 3);
    const columns = decodeColumns(new DataView(bytes.buffer, 3, 32), 2);

    expect(columns.map(column => [...column])).toEqual([
      [1, 2],
      [3, 4]
    ]);
  });
});
