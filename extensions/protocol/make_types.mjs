/**
 * Writes the JSON Schemas of the spec and of what crosses to a browser, and the TypeScript that
 * follows from them.
 *
 * Run it after a change of smtc_lab/spec or of what smtc_lab/views/wire_schema.py names, with the
 * project's Python first in PATH: node protocol/make_types.mjs
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';
import { wireTypes } from './wire_types.mjs';

const WRITTEN = {
  training_job: {
    program: `
from smtc_lab.spec.job import TrainingJob
schema = TrainingJob.model_json_schema()`,
    typesOf
  },
  wire: {
    program: `
from smtc_lab.views.wire_schema import wire_schema
schema = wire_schema()`,
    typesOf: wireTypes
  }
};
const PRINT = 'import json\nprint(json.dumps(schema, indent=2))\n';

/**
 * Return the types of a schema as TypeScript.
 */
export async function typesOf(schema) {
  return await compile(withoutFieldTitles(schema), 'TrainingJob', {
    additionalProperties: false,
    bannerComment:
      '/* Made by make_types.mjs from the JSON Schema of smtc_lab.spec. */',
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, trailingComma: 'none' }
  });
}

/**
 * Return the schema without the titles of its fields, each of which would become a type.
 */
function withoutFieldTitles(schema) {
  const copy = JSON.parse(JSON.stringify(schema));
  for (const part of [copy, ...Object.values(copy.$defs)]) {
    for (const field of Object.values(part.properties ?? {})) {
      delete field.title;
    }
  }
  return copy;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, { program, typesOf: types }] of Object.entries(WRITTEN)) {
    const schema = execFileSync('python', ['-c', `${program}\n${PRINT}`], {
      encoding: 'utf8'
    });
    const here = path => new URL(path, import.meta.url);
    writeFileSync(here(`schema/${name}.json`), schema);
    const made = await types(JSON.parse(schema));
    writeFileSync(here(`src/generated/${name}.ts`), made);
  }
}
