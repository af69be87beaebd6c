import { ProtocolError } from './errors.js';

const REMEDY = 'Rebuild the front end and the Python package from one version.';
const LONGEST_VALUE = 80;

/**
 * An object of parsed JSON, before anybody has looked into it.
 */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Return a value as an object.
 *
 * @throws {@link ProtocolError} when it is none.
 */
export function objectOf(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ProtocolError(
      `${what} is ${shown(value)}, but must be an object. ${REMEDY}`
    );
  }
  return value as JsonObject;
}

/**
 * Return a list field, each item read by a parser.
 *
 * @throws {@link ProtocolError} when it is no list, or an item is refused.
 */
export function listField<T>(
  json: JsonObject,
  field: string,
  parse: (item: unknown) => T
): readonly T[] {
  const value = json[field];
  if (!Array.isArray(value)) {
    throw refusal(field, value, 'a list');
  }
  return value.map(item => parse(item));
}

/**
 * Return a text field.
 *
 * @throws {@link ProtocolError} when it is missing or no text.
 */
export function textField(json: JsonObject, field: string): string {
  const value = json[field];
  if (typeof value !== 'string') {
    throw refusal(field, value, 'text');
  }
  return value;
}

/**
 * Return a text field that may be null.
 */
export function optionalText(json: JsonObject, field: string): string | null {
  return json[field] === null ? null : textField(json, field);
}

/**
 * Return a field that is one of some words.
 *
 * @throws {@link ProtocolError} when it is another.
 */
export function wordField<T extends string>(
  json: JsonObject,
  field: string,
  words: readonly T[]
): T {
  const value = json[field];
  const found = words.find(word => word === value);
  if (found === undefined) {
    throw refusal(field, value, `one of ${words.join(', ')}`);
  }
  return found;
}

/**
 * Return a number field.
 *
 * @throws {@link ProtocolError} when it is missing or not a finite number.
 */
export function numberField(json: JsonObject, field: string): number {
  const value = json[field];
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw refusal(field, value, 'a finite number');
  }
  return value;
}

/**
 * Return a number field that may be null: unknown.
 */
export function optionalNumber(json: JsonObject, field: string): number | null {
  return json[field] === null ? null : numberField(json, field);
}

/**
 * Return the error that says what is wrong with a value.
 */
export function refusal(field: string, value: unknown, wanted: string): Error {
  return new ProtocolError(
    `A message has ${field}=${shown(value)}, but needs ${wanted}. ${REMEDY}`
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  return (text ?? 'undefined').slice(0, LONGEST_VALUE);
}

/**
 * Return a reader that reads each object once: the same object is the same result from then on, as
 * long as nobody changes it. For what is large, or asked for many times between two changes.
 */
export function readOnce<T>(read: (json: unknown) => T): (json: unknown) => T {
  const known = new WeakMap<object, { readonly value: T }>();
  return json => {
    if (typeof json !== 'object' || json === null) {
      return read(json);
    }
    const found = known.get(json) ?? { value: read(json) };
    known.set(json, found);
    return found.value;
  };
}
