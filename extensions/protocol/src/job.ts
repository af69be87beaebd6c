import type { TrainingJob } from './generated/training_job.js';
import { clusterToJson, parseCluster, type ICluster } from './cluster.js';
import { parseCompilerConfig, type CompilerConfig } from './compiler.js';
import { pythonRepr } from './python_text.js';
import {
  objectOf,
  optionalNumber,
  optionalText,
  textField,
  type JsonObject
} from './read.js';
import { properties } from '../schema/training_job.json';

const MAX_HYPERPARAMETERS = properties.hyperparameters.maxProperties;
const SHOWN = new Set([
  'arguments',
  'cluster',
  'compiler_config',
  'entry_point',
  'hyperparameters',
  'max_steps',
  'python_environment'
]);
const HYPERPARAMETER = /^[A-Za-z_][A-Za-z0-9_.-]{0,255}$/;

/**
 * Range of the number of steps of a job.
 */
export const STEPS = {
  min: properties.max_steps.minimum,
  max: properties.max_steps.maximum
} as const;

/**
 * A training job, as it is being edited: not all of it need be legal.
 *
 * Mirrors `smtc_lab.spec.job.TrainingJob`.
 */
export interface IJob {
  readonly entryPoint: string;
  readonly cluster: ICluster;
  readonly hyperparameters: JsonObject;

  /**
   * What the script gets as it is. A text: it is being typed, and cannot be split yet; Python
   * refuses it.
   */
  readonly arguments: readonly string[] | string;

  /**
   * Name of the Python environment that it runs in; null: the one that launches.
   */
  readonly pythonEnvironment: string | null;

  /**
   * Null: the step is plain PyTorch.
   */
  readonly compilerConfig: CompilerConfig | null;

  /**
   * Null: until the script ends.
   */
  readonly maxSteps: number | null;

  /**
   * The other fields of the job, as they came.
   */
  readonly rest: JsonObject;
}

/**
 * Read a job, legal or not.
 *
 * @throws {@link ProtocolError} when it has not the form of one.
 */
export function parseJob(json: unknown): IJob {
  const job = objectOf(json, 'A job');
  const rest = Object.entries(job).filter(([name]) => !SHOWN.has(name));
  return {
    entryPoint: textField(job, 'entry_point'),
    cluster: parseCluster(job['cluster']),
    hyperparameters: objectOf(job['hyperparameters'] ?? {}, 'Hyperparameters'),
    arguments: argumentsOf({ arguments: [], ...job }),
    pythonEnvironment: optionalText(
      { python_environment: null, ...job },
      'python_environment'
    ),
    compilerConfig: parseCompilerConfig(job['compiler_config']),
    maxSteps: optionalNumber({ max_steps: null, ...job }, 'max_steps'),
    rest: Object.fromEntries(rest)
  };
}

/**
 * Return a job as Python reads it.
 */
export function jobToJson(job: IJob): TrainingJob {
  return {
    ...job.rest,
    entry_point: job.entryPoint,
    cluster: clusterToJson(job.cluster),
    hyperparameters: job.hyperparameters,
    arguments: job.arguments as string[], // a text is for Python to refuse
    python_environment: job.pythonEnvironment,
    compiler_config: job.compilerConfig,
    max_steps: job.maxSteps
  };
}

function argumentsOf(job: JsonObject): readonly string[] | string {
  const given = job['arguments'];
  return Array.isArray(given) ? given.map(String) : textField(job, 'arguments');
}

/**
 * Return what is wrong with the name of a hyperparameter, in Python's words; null: nothing.
 */
export function hyperparameterNameProblem(name: string): string | null {
  return HYPERPARAMETER.test(name)
    ? null
    : `Hyperparameter name ${pythonRepr(name.slice(0, 80))} is not a letter or '_' followed ` +
        "by letters, digits, '_', '.' or '-' (at most 256). Rename it.";
}

/**
 * Return what is wrong with so many hyperparameters, in Python's words; null: nothing.
 */
export function hyperparameterCountProblem(count: number): string | null {
  return count <= MAX_HYPERPARAMETERS
    ? null
    : `A job has ${count} hyperparameters, but may have ${MAX_HYPERPARAMETERS}. ` +
        'Drop some, or pass them in a file.';
}
