import type { JsonObject } from './read.js';
import {
  booleanField,
  listField,
  numberField,
  objectOf,
  optionalNumber,
  textField,
  wordField
} from './read.js';
import { ProtocolError } from './errors.js';
import { parsePredicted, type IInterval } from './interval.js';

/**
 * Where a comparison stands, and what is seen so far. Texts are data of users.
 *
 * Mirrors `smtc_lab.views.live.comparison_info.ComparisonInfo`, where each field is explained;
 * both read `tests/fixtures/comparison_info.json`.
 */
export interface IComparisonInfo {
  readonly name: string;
  readonly entryPoint: string;
  readonly state: string;
  readonly ended: boolean;
  readonly reason: string;
  readonly elapsedS: number;
  readonly launches: number;
  readonly rounds: number;
  readonly evidence: 'measured' | 'emulated';
  readonly scale: string;
  readonly sentence: string;
  readonly isVerdict: boolean;
  readonly setUps: readonly ISetUpInfo[];
  readonly launched: readonly ILaunchInfo[];
  readonly rows: readonly IRowInfo[];
  readonly notes: readonly string[];
  readonly code: string;
}

/**
 * One set-up of a comparison: a cluster, with its compiler settings.
 */
export interface ISetUpInfo {
  readonly label: string;

  /**
   * Each instance's host and the name of its group.
   */
  readonly hosts: readonly IHostInfo[];

  /**
   * Price of all instances per hour in USD; null: a price is unknown.
   */
  readonly usdPerHour: number | null;

  readonly evidence: 'measured' | 'emulated';

  /**
   * Name of its Python environment; empty: the one that launches.
   */
  readonly pythonEnvironment: string;

  /**
   * What the planner predicted of a step, with its 80 % interval; null: nobody asked it.
   */
  readonly predictedStepTimeS: IInterval | null;
}

/**
 * One instance of a set-up.
 */
export interface IHostInfo {
  readonly host: string;
  readonly group: string;
}

/**
 * One launch. Launch k, from 0, has the tables `k/steps` and `k/system:<host>`.
 */
export interface ILaunchInfo {
  readonly jobName: string;
  readonly label: string;

  /**
   * Place of its set-up; null: it checks parity only, and has no tables.
   */
  readonly setUp: number | null;

  /**
   * Number of its round, from 1; null: it checks parity only.
   */
  readonly round: number | null;

  readonly state: string;
  readonly steps: number;
  readonly maxSteps: number | null;

  /**
   * Steps at its begin that are left out, as far as it is known by now.
   */
  readonly warmUpSteps: number;
}

/**
 * One line of the table of set-ups, in words.
 */
export interface IRowInfo {
  readonly label: string;

  /**
   * By set-up: the lines of the cell.
   */
  readonly cells: readonly (readonly string[])[];
}

/**
 * Read what Python tells of a comparison.
 *
 * @throws {@link ProtocolError} when a field is missing or of another kind.
 */
export function parseComparisonInfo(value: unknown): IComparisonInfo {
  const json = objectOf(value, 'The description of a comparison');
  return {
    name: textField(json, 'name'),
    entryPoint: textField(json, 'entry_point'),
    state: textField(json, 'state'),
    ended: booleanField(json, 'ended'),
    reason: textField(json, 'reason'),
    elapsedS: numberField(json, 'elapsed_s'),
    launches: numberField(json, 'launches'),
    rounds: numberField(json, 'rounds'),
    evidence: evidenceField(json),
    scale: textField(json, 'scale'),
    sentence: textField(json, 'sentence'),
    isVerdict: booleanField(json, 'is_verdict'),
    setUps: listField(json, 'set_ups', parseSetUp),
    launched: listField(json, 'launched', parseLaunch),
    rows: listField(json, 'rows', parseRow),
    notes: listField(json, 'notes', text),
    code: textField(json, 'code')
  };
}

function parseSetUp(value: unknown): ISetUpInfo {
  const json = objectOf(value, 'A set-up');
  return {
    label: textField(json, 'label'),
    hosts: listField(json, 'hosts', parseHost),
    usdPerHour: optionalNumber(json, 'usd_per_hour'),
    evidence: evidenceField(json),
    // a result that was saved by a version without environments has none
    pythonEnvironment: textField(
      { python_environment: '', ...json },
      'python_environment'
    ),
    predictedStepTimeS: parsePredicted(json)
  };
}

function parseHost(value: unknown): IHostInfo {
  const [host, group] = listField({ host: value }, 'host', text);
  return { host: host ?? '', group: group ?? '' };
}

function parseLaunch(value: unknown): ILaunchInfo {
  const json = objectOf(value, 'A launch');
  return {
    jobName: textField(json, 'job_name'),
    label: textField(json, 'label'),
    setUp: optionalNumber(json, 'set_up'),
    round: optionalNumber(json, 'round'),
    state: textField(json, 'state'),
    steps: numberField(json, 'steps'),
    maxSteps: optionalNumber(json, 'max_steps'),
    warmUpSteps: numberField(json, 'warm_up_steps')
  };
}

function parseRow(value: unknown): IRowInfo {
  const json = objectOf(value, 'A row');
  return {
    label: textField(json, 'label'),
    cells: listField(json, 'cells', cell => listField({ cell }, 'cell', text))
  };
}

function evidenceField(json: JsonObject): 'measured' | 'emulated' {
  return wordField(json, 'evidence', ['measured', 'emulated'] as const);
}

function text(value: unknown): string {
  if (typeof value !== 'string') {
    throw new ProtocolError(
      `A comparison has ${JSON.stringify(value)} where text belongs. ` +
        'Rebuild the front end and the Python package from one version.'
    );
  }
  return value;
}
