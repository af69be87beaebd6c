import type { IEnvironments } from './generated/wire.js';
import { readWire } from './wire.js';

/**
 * Name of the environment that launches, which a job need not name.
 */
export const TODAY = 'today';

/**
 * Name of the environment that has torch_xla.
 */
export const XLA = 'xla';

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
  return value === undefined
    ? NO_ENVIRONMENTS
    : readWire('Environments', value);
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
