import { numberField, objectOf, type JsonObject } from './read.js';

/**
 * A mean with its interval: of 95 % where it was measured, of 80 % where it was predicted.
 */
export interface IInterval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Read a mean with its interval.
 *
 * @throws {@link ProtocolError} when a field is missing or not a finite number.
 */
export function parseInterval(json: unknown): IInterval {
  const interval = objectOf(json, 'An interval');
  return {
    mean: numberField(interval, 'mean'),
    low: numberField(interval, 'low'),
    high: numberField(interval, 'high')
  };
}

/**
 * Read what the planner predicted of a step; null: nobody asked it, or it was saved by a version
 * that did not predict.
 */
export function parsePredicted(json: JsonObject): IInterval | null {
  const predicted = json['predicted_step_time_s'] ?? null;
  return predicted === null ? null : parseInterval(predicted);
}
