import { ProtocolError } from './errors.js';
import { WIRE, type IWire } from './generated/wire.js';
import { objectOf, refusal } from './read.js';
import type { ISchema } from './schema.js';

/**
 * Read what Python sent, or what a notebook kept of it: names become camel case, maps by names of
 * users become Maps, and what no type has is left out.
 *
 * @param kind - Name of the Python type.
 * @throws {@link ProtocolError} when it is not of this type, or of another version.
 */
export function readWire<K extends keyof IWire>(
  kind: K,
  value: unknown
): IWire[K] {
  return readPart(WIRE[kind], value, kind) as IWire[K];
}

function readPart(schema: ISchema, value: unknown, path: string): unknown {
  if (schema.$ref !== undefined) {
    return readPart(WIRE[schema.$ref as keyof IWire], value, path);
  }
  if (schema.anyOf !== undefined) {
    const [known] = schema.anyOf.filter(({ type }) => type !== 'null');
    return value === null ? null : readPart(known as ISchema, value, path);
  }
  if (schema.const !== undefined) {
    return readVersion(schema.const, value, path);
  }
  if (schema.enum !== undefined) {
    const isOne = schema.enum.some(word => word === value);
    return checked(isOne, value, path, `one of ${schema.enum.join(', ')}`);
  }
  switch (schema.type) {
    case 'array':
      return readList(schema, value, path);
    case 'object':
      return readObject(schema, value, path);
    case 'boolean':
      return checked(typeof value === 'boolean', value, path, 'true or false');
    case undefined: // what draws it reads it
      return value;
    case 'string':
      return checked(typeof value === 'string', value, path, 'text');
    default:
      return checked(Number.isFinite(value), value, path, 'a finite number');
  }
}

function readList(schema: ISchema, value: unknown, path: string): unknown {
  const { items, prefixItems } = schema;
  const list = checked(
    Array.isArray(value),
    value,
    path,
    'a list'
  ) as unknown[];
  if (prefixItems === undefined) {
    return list.map((item, place) =>
      readPart(items as ISchema, item, `${path}[${place}]`)
    );
  }
  return prefixItems.map((part, place) =>
    readPart(part, list[place], `${path}[${place}]`)
  );
}

function readObject(schema: ISchema, value: unknown, path: string): unknown {
  const { additionalProperties, optional, properties } = schema;
  const json = objectOf(value, path);
  if (properties === undefined) {
    const entries = Object.entries(json).map(([name, item]) => {
      const part = additionalProperties as ISchema;
      return [name, readPart(part, item, `${path}.${name}`)] as const;
    });
    return new Map(entries);
  }
  const made: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(properties)) {
    const given = Object.hasOwn(json, name) ? json[name] : undefined;
    const isVersion = part.const !== undefined;
    const found = given === undefined && !isVersion ? part.default : given;
    if (found !== undefined || isVersion || !optional?.includes(name)) {
      made[camelCase(name)] = readPart(part, found, `${path}.${name}`);
    }
  }
  return made;
}

function readVersion(version: unknown, value: unknown, path: string): unknown {
  if (value !== version) {
    throw new ProtocolError(
      `A message has ${path}=${JSON.stringify(value)}, but this front end reads ` +
        `${JSON.stringify(version)}. Reload the page, or install the front end and the Python ` +
        'package from one version.'
    );
  }
  return value;
}

function checked(
  isRight: boolean,
  value: unknown,
  path: string,
  wanted: string
): unknown {
  if (!isRight) {
    throw refusal(path, value, wanted);
  }
  return value;
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
