/**
 * Writes the JSON Schema of the spec, and the TypeScript types that follow from it.
 *
 * Run it after a change of smtc_lab/spec, with the project's Python first in PATH:
 * node protocol/make_types.mjs
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';

const SCHEMA = new URL('schema/training_job.json', import.meta.url);
const TYPES = new URL('src/generated/training_job.ts', import.meta.url);
const PROGRAM = `
import json
from smtc_lab.spec.job import TrainingJob
print(json.dumps(TrainingJob.model_json_schema(), indent=2))
`;

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
  const text = execFileSync('python', ['-c', PROGRAM], { encoding: 'utf8' });
  for (const target of [SCHEMA, TYPES]) {
    mkdirSync(new URL('.', target), { recursive: true });
  }
  writeFileSync(SCHEMA, text);
  writeFileSync(TYPES, await typesOf(JSON.parse(text)));
}
