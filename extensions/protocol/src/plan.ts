import {
  booleanField,
  describedObject,
  listField,
  numberField,
  objectOf,
  optionalNumber,
  textField,
  wordField,
  type JsonObject
} from './read.js';

const VERSION = 1;

/**
 * What a step is made of, in the order in which a sample passes it.
 */
export const STAGES = ['cpu', 'network', 'serial', 'device'] as const;

export type Stage = (typeof STAGES)[number];

const EVIDENCE = ['measured', 'emulated', 'predicted', 'extrapolated'] as const;

/**
 * Where a point of a plan comes from.
 */
export type PlanEvidence = (typeof EVIDENCE)[number];

/**
 * A number with its interval.
 */
export interface IEstimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * One cluster of a plan, predicted.
 */
export interface IPlanPoint {
  readonly label: string;
  readonly isHeterogeneous: boolean;

  /**
   * `best`, `cheapest`, `fastest`, `knee`, where it is that.
   */
  readonly names: readonly string[];

  /**
   * Whether no other cluster is both faster and cheaper.
   */
  readonly isPareto: boolean;
  readonly evidence: PlanEvidence;
  readonly stepTimeS: IEstimate;
  readonly usdPerHour: number | null;
  readonly usdPer1000Steps: IEstimate | null;
  readonly jobS: IEstimate | null;
  readonly usdPerJob: IEstimate | null;
  readonly bottleneck: Stage;
  readonly isNearTie: boolean;
  readonly stagesS: Readonly<Record<Stage, number | null>>;

  /**
   * Share of the step time in which each stage works, 0 to 1.
   */
  readonly utilization: Readonly<Record<Stage, number | null>>;
  readonly price: string;
  readonly isPriceOld: boolean;
  readonly notes: readonly string[];

  /**
   * Empty: Python was not asked for it.
   */
  readonly explanation: string;
  readonly code: string;
}

/**
 * A run, beside what was predicted of its cluster.
 */
export interface IPlanRun {
  readonly label: string;
  readonly jobName: string;
  readonly isHeterogeneous: boolean;
  readonly hasEnded: boolean;
  readonly evidence: PlanEvidence;
  readonly stepTimeS: IEstimate;
  readonly predictedS: IEstimate;

  /**
   * (predicted - measured) / measured.
   */
  readonly errorFraction: number;
  readonly usdPer1000Steps: IEstimate | null;
}

/**
 * Everything that is shown of a plan. Texts are data of users.
 *
 * Mirrors `smtc_lab.views.plan_info.PlanInfo`, where each field is explained; both read
 * `tests/fixtures/plan_info.json`.
 */
export interface IPlanInfo {
  readonly entryPoint: string;
  readonly steps: number | null;
  readonly sentence: string;
  readonly limits: string;
  readonly budgetUsdPerHour: number | null;
  readonly budgetUsd: number | null;
  readonly deadlineS: number | null;
  readonly basis: string;

  /**
   * The fastest first.
   */
  readonly points: readonly IPlanPoint[];
  readonly numCandidates: number;
  readonly measured: readonly IPlanRun[];
  readonly notes: readonly string[];
}

/**
 * Read what Python tells of a plan.
 *
 * @throws {@link ProtocolError} when a field is missing, or it is of another version.
 */
export function parsePlanInfo(value: unknown): IPlanInfo {
  const json = describedObject(value, 'The description of a plan', VERSION);
  return {
    entryPoint: textField(json, 'entry_point'),
    steps: optionalNumber(json, 'steps'),
    sentence: textField(json, 'sentence'),
    limits: textField(json, 'limits'),
    budgetUsdPerHour: optionalNumber(json, 'budget_usd_per_hour'),
    budgetUsd: optionalNumber(json, 'budget_usd'),
    deadlineS: optionalNumber(json, 'deadline_s'),
    basis: textField(json, 'basis'),
    points: listField(json, 'points', parsePoint),
    numCandidates: numberField(json, 'num_candidates'),
    measured: listField(json, 'measured', parseRun),
    notes: listField(json, 'notes', text)
  };
}

function parsePoint(value: unknown): IPlanPoint {
  const json = objectOf(value, 'A cluster of a plan');
  return {
    label: textField(json, 'label'),
    isHeterogeneous: booleanField(json, 'is_heterogeneous'),
    names: listField(json, 'names', text),
    isPareto: booleanField(json, 'is_pareto'),
    evidence: wordField(json, 'evidence', EVIDENCE),
    stepTimeS: estimate(json['step_time_s']),
    usdPerHour: optionalNumber(json, 'usd_per_hour'),
    usdPer1000Steps: optionalEstimate(json, 'usd_per_1000_steps'),
    jobS: optionalEstimate(json, 'job_s'),
    usdPerJob: optionalEstimate(json, 'usd_per_job'),
    bottleneck: wordField(json, 'bottleneck', STAGES),
    isNearTie: booleanField(json, 'is_near_tie'),
    stagesS: byStage(json['stages_s']),
    utilization: byStage(json['utilization']),
    price: textField(json, 'price'),
    isPriceOld: booleanField(json, 'is_price_old'),
    notes: listField(json, 'notes', text),
    explanation: textField(json, 'explanation'),
    code: textField(json, 'code')
  };
}

function parseRun(value: unknown): IPlanRun {
  const json = objectOf(value, 'A run beside a plan');
  return {
    label: textField(json, 'label'),
    jobName: textField(json, 'job_name'),
    isHeterogeneous: booleanField(json, 'is_heterogeneous'),
    hasEnded: booleanField(json, 'has_ended'),
    evidence: wordField(json, 'evidence', EVIDENCE),
    stepTimeS: estimate(json['step_time_s']),
    predictedS: estimate(json['predicted_s']),
    errorFraction: numberField(json, 'error_fraction'),
    usdPer1000Steps: optionalEstimate(json, 'usd_per_1000_steps')
  };
}

function byStage(value: unknown): Readonly<Record<Stage, number | null>> {
  const json = objectOf(value, 'The stages of a step');
  return {
    cpu: optionalNumber(json, 'cpu'),
    network: optionalNumber(json, 'network'),
    serial: optionalNumber(json, 'serial'),
    device: optionalNumber(json, 'device')
  };
}

function estimate(value: unknown): IEstimate {
  const json = objectOf(value, 'An estimate');
  return {
    value: numberField(json, 'value'),
    low: numberField(json, 'low'),
    high: numberField(json, 'high')
  };
}

function optionalEstimate(json: JsonObject, field: string): IEstimate | null {
  return json[field] === null ? null : estimate(json[field]);
}

function text(value: unknown): string {
  return textField({ item: value }, 'item');
}
