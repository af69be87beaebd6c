/**
 * From the JSON Schema of what crosses to TypeScript: a type for each part, with its names in
 * camel case, and the schema itself without its words, by which `src/wire.ts` reads.
 */
const BANNER =
  '/* Made by make_types.mjs from the JSON Schema of smtc_lab.views.wire_schema. */';
const CHECKED = [
  '$ref',
  'additionalProperties',
  'anyOf',
  'const',
  'default',
  'enum',
  'items',
  'prefixItems',
  'properties',
  'type'
];

/**
 * Return a TypeScript module with the types of a schema.
 */
export function wireTypes({ $defs: defs }) {
  const all = { ...inlineParts(defs), ...defs };
  const names = Object.keys(defs).sort();
  return [
    BANNER,
    "import type { ISchema } from '../schema.js';",
    ...Object.keys(all)
      .sort()
      .map(name => interfaceOf(name, all[name])),
    '/**\n * Everything that crosses, by the name of its Python type.\n */\n' +
      `export interface IWire {\n${names.map(name => `  readonly ${name}: I${name};`).join('\n')}\n}`,
    '/**\n * By what it is checked.\n */\n' +
      'export const WIRE: Readonly<Record<keyof IWire, ISchema>> = ' +
      `{\n${names.map(name => `  ${name}: ${JSON.stringify(checked(defs[name]))}`).join(',\n')}\n};\n`
  ].join('\n\n');
}

/**
 * Return a name in Python as it is in TypeScript.
 */
function camel(name) {
  return name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

/**
 * Return the objects that have a title, but no definition of their own.
 */
function inlineParts(value, found = {}) {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null) {
      if (part.type === 'object' && part.properties && !(part.title in found)) {
        found[part.title] = { ...part, description: undefined };
      }
      inlineParts(part, found);
    }
  }
  return found;
}

function interfaceOf(name, { description, properties, required = [] }) {
  const fields = Object.entries(properties).map(([field, part]) => {
    const isThere = required.includes(field) || 'default' in part;
    return `${comment(part.description, '  ')}  readonly ${camel(field)}${isThere ? '' : '?'}: ${typeOf(part)};`;
  });
  return `${comment(description, '')}export interface I${name} {\n${fields.join('\n\n')}\n}`;
}

function comment(text, indent) {
  if (text === undefined) {
    return '';
  }
  const lines = text.split('\n').map(line => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${lines.join('\n')}\n${indent} */\n`;
}

function typeOf(part) {
  if (part.$ref !== undefined) {
    return `I${part.$ref.split('/').at(-1)}`;
  }
  const words = part.enum ?? (part.const === undefined ? null : [part.const]);
  if (words !== null) {
    return words.map(quoted).join(' | ');
  }
  if (part.anyOf !== undefined) {
    return part.anyOf.map(typeOf).join(' | ');
  }
  switch (part.type) {
    case 'array':
      return part.prefixItems === undefined
        ? `readonly (${typeOf(part.items)})[]`.replace(/\((\w+)\)/, '$1')
        : `readonly [${part.prefixItems.map(typeOf).join(', ')}]`;
    case 'object':
      return part.properties === undefined ? mapOf(part) : `I${part.title}`;
    case 'integer':
      return 'number';
    default:
      return part.type ?? 'unknown';
  }
}

function mapOf({ additionalProperties, propertyNames }) {
  const value = typeOf(additionalProperties);
  return propertyNames === undefined
    ? `ReadonlyMap<string, ${value}>`
    : `Readonly<Record<${propertyNames.enum.map(quoted).join(' | ')}, ${value}>>`;
}

function quoted(value) {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/**
 * Return what a reader must know. An object whose keys are some words has a field for each.
 */
function checked(part) {
  if (part.propertyNames !== undefined) {
    const words = part.propertyNames.enum;
    const value = checked(part.additionalProperties);
    return {
      type: 'object',
      properties: Object.fromEntries(words.map(word => [word, value]))
    };
  }
  const kept = Object.entries(part).filter(([key]) => CHECKED.includes(key));
  return {
    ...Object.fromEntries(
      kept.map(([key, value]) => [key, checkedValue(key, value)])
    ),
    ...optional(part)
  };
}

/**
 * Return which fields may be missing and have no default, where there is one: fewer words than
 * those that must be there.
 */
function optional({ properties = {}, required = [] }) {
  const names = Object.keys(properties).filter(
    name => !required.includes(name) && !('default' in properties[name])
  );
  return names.length > 0 ? { optional: names } : {};
}

function checkedValue(key, value) {
  switch (key) {
    case '$ref':
      return value.split('/').at(-1);
    case 'anyOf':
    case 'prefixItems':
      return value.map(checked);
    case 'additionalProperties':
    case 'items':
      return checked(value);
    case 'properties':
      return Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, checked(part)])
      );
    default:
      return value;
  }
}
