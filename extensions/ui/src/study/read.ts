import {
  listField,
  objectOf,
  readWire,
  WIRE,
  type IComparisonInfo,
  type IWire,
  type JsonObject
} from '@smtc-lab/protocol';

const NOTHING: JsonObject = {
  array: [],
  boolean: false,
  integer: 0,
  number: 0,
  string: ''
};

/**
 * Read what is told of a study of any kind: what a comparison tells, or a part of it. While there
 * is no answer, the `question` stands in its place.
 */
export function readStudy(json: unknown): IComparisonInfo {
  const { question = '' } = objectOf(json, 'A study');
  const study = filled('ComparisonInfo', json);
  return readWire('ComparisonInfo', {
    ...study,
    sentence: study['sentence'] || question,
    launched: listField(study, 'launched', launch =>
      filled('LaunchInfo', launch)
    )
  });
}

/**
 * Return a description with nothing in the place of what is not told.
 */
function filled(kind: keyof IWire, json: unknown): JsonObject {
  const given = objectOf(json, kind);
  const fields = Object.entries(WIRE[kind].properties ?? {});
  return Object.fromEntries(
    fields.map(([name, { type = '', enum: words }]) => [
      name,
      given[name] ?? words?.[0] ?? NOTHING[type] ?? null
    ])
  );
}
