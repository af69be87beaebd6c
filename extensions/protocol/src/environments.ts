import {
  listField,
  objectOf,
  optionalText,
  textField,
  wordField
} from './read.js';

/**
 * Name of the environment that launches, which a job need not name.
 */
export const TODAY = 'today';

/**
 * Name of the environment that has torch_xla.
 */
export const XLA = 'xla';

const STATES = ['idle', 'making', 'done', 'failed'] as const;

/**
 * One Python environment, as far as it is known.
 */
export interface IEnvironmentChoice {
  readonly name: string;

  /**
   * Version; null: it has none, or was not asked yet.
   */
  readonly torch: string | null;
  readonly torchXla: string | null;

  /**
   * Why no job can run in it, in Python's words; empty: one can.
   */
  readonly problem: string;

  /**
   * Why the compiler backend `xla` cannot be used in it; empty: it can.
   */
  readonly noXla: string;
}

/**
 * The Python environments of a machine.
 *
 * Mirrors `smtc_lab.views.environments`; both read `tests/fixtures/environments.json`.
 */
export interface IEnvironments {
  /**
   * The one that launches first.
   */
  readonly choices: readonly IEnvironmentChoice[];

  /**
   * Why a job that names no environment cannot use the backend `xla`; empty: it can.
   */
  readonly noXla: string;

  /**
   * How far the environment of XLA is, which a form can have made.
   */
  readonly making: {
    readonly state: (typeof STATES)[number];
    readonly sentence: string;
  };
}

/**
 * What is known before anybody was asked.
 */
export const NO_ENVIRONMENTS: IEnvironments = {
  choices: [],
  noXla: '',
  making: { state: 'idle', sentence: '' }
};

/**
 * Read the Python environments; undefined: nobody was asked yet.
 *
 * @throws {@link ProtocolError} when a field is missing or of another kind.
 */
export function parseEnvironments(value: unknown): IEnvironments {
  if (value === undefined) {
    return NO_ENVIRONMENTS;
  }
  const json = objectOf(value, 'The Python environments');
  const making = objectOf(json['making'], 'The making of an environment');
  return {
    choices: listField(json, 'choices', parseChoice),
    noXla: textField(json, 'no_xla'),
    making: {
      state: wordField(making, 'state', STATES),
      sentence: textField(making, 'sentence')
    }
  };
}

/**
 * Return why the compiler backend `xla` cannot be used in an environment; empty: it can.
 *
 * @param name - What a job names; null: nothing.
 */
export function noXlaIn(
  environments: IEnvironments,
  name: string | null
): string {
  return name === null
    ? environments.noXla
    : (environments.choices.find(choice => choice.name === name)?.noXla ?? '');
}

function parseChoice(value: unknown): IEnvironmentChoice {
  const json = objectOf(value, 'A Python environment');
  return {
    name: textField(json, 'name'),
    torch: optionalText(json, 'torch'),
    torchXla: optionalText(json, 'torch_xla'),
    problem: textField(json, 'problem'),
    noXla: textField(json, 'no_xla')
  };
}
