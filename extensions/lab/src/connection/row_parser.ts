import {
  listField,
  objectOf,
  optionalNumber,
  textField,
  wordField
} from '@smtc-lab/protocol';
import type { IRow } from './row.js';

/**
 * Read a row.
 *
 * @throws {@link ProtocolError} when a field is missing.
 */
export function parseRow(json: unknown): IRow {
  const row = objectOf(json, 'A row of the list');
  return {
    name: textField(row, 'name'),
    kind: wordField(row, 'kind', ['run', 'comparison'] as const),
    state: textField(row, 'state'),
    reason: textField(row, 'reason'),
    startedS: optionalNumber(row, 'started_s'),
    endedS: optionalNumber(row, 'ended_s'),
    cluster: textField(row, 'cluster'),
    entryPoint: textField(row, 'entry_point'),
    usdPerHour: optionalNumber(row, 'usd_per_hour'),
    usdSoFar: optionalNumber(row, 'usd_so_far'),
    steps: optionalNumber(row, 'steps'),
    maxSteps: optionalNumber(row, 'max_steps'),
    stepTimeS: optionalNumber(row, 'step_time_s'),
    evidence: wordField(row, 'evidence', ['measured', 'emulated'] as const)
  };
}

/**
 * Read a list of rows.
 */
export function parseRows(json: unknown): readonly IRow[] {
  return listField({ rows: json }, 'rows', parseRow);
}
