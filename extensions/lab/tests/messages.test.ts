import { describe, expect, it } from 'vitest';
import { parseBinary, parseText } from '../src/connection/messages.js';

function binary(
  header: object,
  buffers: readonly Uint8Array[] = []
): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, text.length, true);
  const bytes = [
    padded([length, text]),
    ...buffers.map(buffer => padded([buffer]))
  ];
  return new Uint8Array(bytes.flat()).buffer;
}

function padded(parts: readonly Uint8Array[]): number[] {
  const bytes = parts.flatMap(part => [...part]);
  return [...bytes, ...Array<number>((8 - (bytes.length % 8)) % 8).fill(0)];
}

describe('a binary message', () => {
  it('has its buffers where they can be read as numbers', () => {
    const [one, two] = [new Float64Array([1.5, -2]), new Float64Array([7])];
    const data = binary(
      { id: 3, content: { type: 'rows' }, lengths: [16, 8] },
      [new Uint8Array(one.buffer), new Uint8Array(two.buffer)]
    );

    const { id, content, buffers } = parseBinary(data);

    expect([id, content]).toEqual([3, { type: 'rows' }]);
    expect(buffers.map(buffer => buffer.byteOffset % 8)).toEqual([0, 0]);
    expect(buffers.map(buffer => buffer.getFloat64(0, true))).toEqual([1.5, 7]);
  });

  it('that was cut off is refused', () => {
    const data = binary({ id: 1, content: {}, lengths: [64] });

    expect(() => parseBinary(data)).toThrow(/ends before/);
    expect(() => parseBinary(data.slice(0, 10))).toThrow(/ends before/);
    expect(() => parseBinary(new ArrayBuffer(2))).toThrow(/ends before/);
  });

  it('with lengths that are none is refused', () => {
    expect(() => parseBinary(binary({ id: 1, lengths: [-8] }))).toThrow(
      /lengths=\[-8\]/
    );
  });
});

describe('a text message', () => {
  it('brings values, or says what is wrong', () => {
    expect(parseText('{"type":"set","id":2,"values":{"beat":1}}')).toEqual({
      type: 'set',
      id: 2,
      values: { beat: 1 }
    });
    expect(
      parseText('{"type":"problem","id":null,"message":"No."}')
    ).toMatchObject({ id: null, message: 'No.' });
  });

  it('of another kind is refused', () => {
    expect(() => parseText('{"type":"news","id":2}')).toThrow(/type="news"/);
  });
});
