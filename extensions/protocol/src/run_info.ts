import type { JsonObject } from './read.js';
import {
  booleanField,
  describedObject,
  listField,
  numberField,
  objectOf,
  optionalNumber,
  textField,
  wordField
} from './read.js';
import { parseInterval, parsePredicted, type IInterval } from './interval.js';

const VERSION = 1;

/**
 * Everything about one run that is not a row of a table. Texts are data of users.
 *
 * Mirrors `smtc_lab.views.live.run_info.RunInfo`, where each field is explained; both read
 * `tests/fixtures/run_info.json`.
 */
export interface IRunInfo {
  readonly jobName: string;
  readonly cluster: string;
  readonly launcher: string;
  readonly entryPoint: string;

  /**
   * Empty: the one that launched.
   */
  readonly pythonEnvironment: string;
  readonly state: string;
  readonly reason: string;
  readonly ended: boolean;
  readonly elapsedS: number | null;
  readonly maxSteps: number | null;

  /**
   * Steps that all ranks have recorded; null: they were not counted yet.
   */
  readonly steps: number | null;
  readonly evidence: 'measured' | 'emulated';
  readonly coresPerVcpu: number | null;
  readonly deviceStepTimeS: number | null;
  readonly groups: readonly IGroupInfo[];
  readonly usdPerHour: number | null;
  readonly priceNotes: readonly string[];
  readonly usdSoFar: number | null;
  readonly compiler: ICompilerInfo | null;

  /**
   * What the planner predicted of a step, with its 80 % interval; null: nobody asked it.
   */
  readonly predictedStepTimeS: IInterval | null;
  readonly summary: ISummaryInfo | null;
  readonly events: readonly IEventInfo[];
  readonly findings: readonly IFindingInfo[];
  readonly problem: string;
}

/**
 * One instance group.
 */
export interface IGroupInfo {
  readonly name: string;
  readonly instanceType: string;
  readonly instanceCount: number;
  readonly role: string;
  readonly hosts: readonly string[];
  readonly cpuQuotaCores: number | null;
}

/**
 * What became of the compiler that was asked for.
 */
export interface ICompilerInfo {
  readonly backend: string;
  readonly words: readonly string[];
}

/**
 * The steps so far in a few numbers, warm-up left out.
 */
export interface ISummaryInfo {
  readonly steps: number;
  readonly warmUpSteps: number;
  readonly stepTimeS: IInterval;
  readonly dataWaitFraction: number | null;
  readonly deviceUtilization: number | null;

  /**
   * CPU time used over CPU time at hand of each group, 0 to 1; null: not known.
   */
  readonly cpu: ReadonlyMap<string, number | null>;
  readonly usdPer1000Steps: IInterval | null;
}

/**
 * Something that happened once.
 */
export interface IEventInfo {
  /**
   * Seconds since the begin of the run.
   */
  readonly timeS: number;
  readonly kind: string;
  readonly host: string;
  readonly message: string;
}

/**
 * Something that could be better.
 */
export interface IFindingInfo {
  readonly severity: 'warning' | 'note';
  readonly sentence: string;
  readonly fix: string;
}

/**
 * The last lines that the instances of a run printed.
 */
export interface ILog {
  /**
   * Number of the first line that is there.
   */
  readonly first: number;
  readonly lines: readonly ILogLine[];
}

/**
 * One line.
 */
export interface ILogLine {
  readonly host: string;
  readonly text: string;
}

/**
 * A sign of life.
 */
export interface IBeat {
  readonly number: number;

  /**
   * How long the run has lasted; null: it has not begun.
   */
  readonly elapsedS: number | null;
}

/**
 * Read what Python tells of a run.
 *
 * @throws {@link ProtocolError} when a field is missing, or it is of another version.
 */
export function parseRunInfo(json: unknown): IRunInfo {
  const run = describedObject(json, 'The description of a run', VERSION);
  return {
    jobName: textField(run, 'job_name'),
    cluster: textField(run, 'cluster'),
    launcher: textField(run, 'launcher'),
    entryPoint: textField(run, 'entry_point'),
    // a result that was saved by a version without environments has none
    pythonEnvironment: textField(
      { python_environment: '', ...run },
      'python_environment'
    ),
    state: textField(run, 'state'),
    reason: textField(run, 'reason'),
    ended: booleanField(run, 'ended'),
    elapsedS: optionalNumber(run, 'elapsed_s'),
    maxSteps: optionalNumber(run, 'max_steps'),
    steps: optionalNumber(run, 'steps'),
    evidence: wordField(run, 'evidence', ['measured', 'emulated'] as const),
    coresPerVcpu: optionalNumber(run, 'cores_per_vcpu'),
    deviceStepTimeS: optionalNumber(run, 'device_step_time_s'),
    groups: listField(run, 'groups', parseGroup),
    usdPerHour: optionalNumber(run, 'usd_per_hour'),
    priceNotes: listField(run, 'price_notes', text),
    usdSoFar: optionalNumber(run, 'usd_so_far'),
    compiler: run['compiler'] === null ? null : parseCompiler(run['compiler']),
    predictedStepTimeS: parsePredicted(run),
    summary: run['summary'] === null ? null : parseSummary(run['summary']),
    events: listField(run, 'events', parseEvent),
    findings: listField(run, 'findings', parseFinding),
    problem: textField(run, 'problem')
  };
}

/**
 * Read the last lines of a run's logs.
 *
 * @throws {@link ProtocolError} when a field is missing.
 */
export function parseLog(json: unknown): ILog {
  const log = objectOf(json, 'A log');
  return {
    first: numberField(log, 'first'),
    lines: listField(log, 'lines', item => {
      const [host, line] = Array.isArray(item) ? (item as unknown[]) : [];
      return { host: text(host), text: text(line) };
    })
  };
}

/**
 * Read a sign of life.
 *
 * @throws {@link ProtocolError} when a field is missing.
 */
export function parseBeat(json: unknown): IBeat {
  const beat = objectOf(json, 'A sign of life');
  return {
    number: numberField(beat, 'number'),
    elapsedS: optionalNumber(beat, 'elapsed_s')
  };
}

function parseGroup(json: unknown): IGroupInfo {
  const group = objectOf(json, 'An instance group');
  return {
    name: textField(group, 'name'),
    instanceType: textField(group, 'instance_type'),
    instanceCount: numberField(group, 'instance_count'),
    role: textField(group, 'role'),
    hosts: listField(group, 'hosts', text),
    cpuQuotaCores: optionalNumber(group, 'cpu_quota_cores')
  };
}

function parseCompiler(json: unknown): ICompilerInfo {
  const compiler = objectOf(json, 'A compiler');
  return {
    backend: textField(compiler, 'backend'),
    words: listField(compiler, 'words', text)
  };
}

function parseSummary(json: unknown): ISummaryInfo {
  const summary = objectOf(json, 'A summary');
  const cpu = objectOf(summary['cpu'], 'CPU utilization');
  return {
    steps: numberField(summary, 'steps'),
    warmUpSteps: numberField(summary, 'warm_up_steps'),
    stepTimeS: parseInterval(summary['step_time_s']),
    dataWaitFraction: optionalNumber(summary, 'data_wait_fraction'),
    deviceUtilization: optionalNumber(summary, 'device_utilization'),
    cpu: new Map(
      Object.keys(cpu).map(group => [group, optionalNumber(cpu, group)])
    ),
    usdPer1000Steps:
      summary['usd_per_1000_steps'] === null
        ? null
        : parseInterval(summary['usd_per_1000_steps'])
  };
}

function parseEvent(json: unknown): IEventInfo {
  const event = objectOf(json, 'An event');
  return {
    timeS: numberField(event, 'time_s'),
    kind: textField(event, 'kind'),
    host: textField(event, 'host'),
    message: textField(event, 'message')
  };
}

function parseFinding(json: unknown): IFindingInfo {
  const finding = objectOf(json, 'A finding');
  return {
    severity: wordField(finding, 'severity', ['warning', 'note'] as const),
    sentence: textField(finding, 'sentence'),
    fix: textField(finding, 'fix')
  };
}

function text(value: unknown): string {
  const holder: JsonObject = { item: value };
  return textField(holder, 'item');
}
