import {
  noXlaIn,
  TODAY,
  type IEnvironments,
  type IJob
} from '@smtc-lab/protocol';
import { isOfSpot } from '../spot/part.js';
import { isOfEmulation } from './emulation_fields.js';

/**
 * A job, and what Python found wrong with it.
 */
interface IChecked {
  readonly job: IJob;
  readonly environments: IEnvironments;
  readonly problems: readonly string[];
}

/**
 * Return what a set-up is called: its cluster, and its environment where it names one.
 */
export function nameOf({ cluster, pythonEnvironment }: IJob): string {
  const other = pythonEnvironment === TODAY ? null : pythonEnvironment;
  return [cluster.name ?? '', other ?? '']
    .filter(name => name !== '')
    .join(', ');
}

const OF_ENVIRONMENT =
  /^(There is no environment named|What is known of the environment|python_environment) /;

const OF_ARGUMENTS =
  /^(TrainingJob\.arguments[.=]|arguments=|A job has \d+ arguments)/;

/**
 * Return problems by the part that they stand in; the compiler says its own by
 * itself, and what is wrong with the emulation stands above all set-ups.
 */
export function problemsByPart({ job, environments, problems }: IChecked): {
  readonly cluster: readonly string[];
  readonly environment: readonly string[];
  readonly compiler: readonly string[];
  readonly script: readonly string[];
  readonly spot: readonly string[];
} {
  const name = job.pythonEnvironment;
  const noXla = noXlaIn(environments, name);
  const own = environments.choices.find(choice => choice.name === name);
  const isOfEnvironment = (text: string): boolean =>
    text === own?.problem || OF_ENVIRONMENT.test(text);
  const isOf = {
    compiler: (text: string) => text === noXla,
    environment: isOfEnvironment,
    script: (text: string) => OF_ARGUMENTS.test(text),
    spot: isOfSpot
  };
  return {
    cluster: problems.filter(
      text =>
        !isOfEmulation(text) && !Object.values(isOf).some(isOne => isOne(text))
    ),
    environment: problems.filter(isOf.environment),
    compiler: problems.filter(isOf.compiler),
    script: problems.filter(isOf.script),
    spot: problems.filter(isOfSpot)
  };
}
