import {
  numberField,
  objectOf,
  optionalNumber,
  ProtocolError,
  textField,
  wordField,
  type JsonObject
} from '@smtc-lab/protocol';

const ALIGNMENT = 8;

/**
 * A message of the server in text.
 */
export type ServerText =
  | { readonly type: 'set'; readonly id: number; readonly values: JsonObject }
  | {
      readonly type: 'problem';

      /**
       * Null: it is not about one watch.
       */
      readonly id: number | null;
      readonly message: string;
    };

/**
 * A binary message of the server: what a widget would get as a custom message.
 */
export interface IServerMessage {
  readonly id: number;
  readonly content: unknown;
  readonly buffers: readonly DataView[];
}

/**
 * Read a text message.
 *
 * @throws {@link ProtocolError} when it is none.
 */
export function parseText(text: string): ServerText {
  const message = objectOf(JSON.parse(text), 'A message of the server');
  const type = wordField(message, 'type', ['set', 'problem'] as const);
  if (type === 'set') {
    const values = objectOf(message['values'], 'The values');
    return { type, id: numberField(message, 'id'), values };
  }
  return {
    type,
    id: optionalNumber(message, 'id'),
    message: textField(message, 'message')
  };
}

/**
 * Read a binary message: the length of its header, the header in JSON, and behind it the
 * buffers, each at a multiple of 8 bytes, so that they can be read where they lie.
 *
 * @throws {@link ProtocolError} when it is shorter than it says.
 */
export function parseBinary(data: ArrayBuffer): IServerMessage {
  const headerBytes =
    data.byteLength < 4 ? Infinity : new DataView(data).getUint32(0, true);
  if (4 + headerBytes > data.byteLength) {
    throw tooShort(data.byteLength);
  }
  const text = new TextDecoder().decode(new Uint8Array(data, 4, headerBytes));
  const header = objectOf(JSON.parse(text), 'The header of a message');
  let begin = aligned(4 + headerBytes);
  const buffers = lengthsOf(header).map(length => {
    if (begin + length > data.byteLength) {
      throw tooShort(data.byteLength);
    }
    const buffer = new DataView(data, begin, length);
    begin = aligned(begin + length);
    return buffer;
  });
  return { id: numberField(header, 'id'), content: header['content'], buffers };
}

function lengthsOf(header: JsonObject): readonly number[] {
  const lengths: unknown = header['lengths'];
  if (
    !Array.isArray(lengths) ||
    !lengths.every(length => Number.isInteger(length) && length >= 0)
  ) {
    throw new ProtocolError(
      `A message has lengths=${JSON.stringify(lengths)}, but needs whole numbers. ` +
        'Reload the page, or restart the server.'
    );
  }
  return lengths as number[];
}

function aligned(place: number): number {
  return Math.ceil(place / ALIGNMENT) * ALIGNMENT;
}

function tooShort(bytes: number): Error {
  return new ProtocolError(
    `A message of ${bytes} bytes ends before what its header tells. ` +
      'Reload the page, or restart the server.'
  );
}
