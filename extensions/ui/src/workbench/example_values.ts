import type { IJob, JsonObject } from '@smtc-lab/protocol';
import { isSameJson } from '../forms/component.js';

const EXAMPLE = /(^|\/)smtc_lab\/examples\/[^/]+\.py$/;

/**
 * The hyperparameters that came with the example script, which no other script knows.
 *
 * They leave a set-up with the example, and come back with it; what was typed stays.
 */
export class ExampleValues {
  /**
   * Take note of set-ups; what was seen first with an example came with it.
   */
  note(jobs: readonly IJob[]): void {
    for (const { entryPoint, hyperparameters } of jobs) {
      if (EXAMPLE.test(entryPoint) && !this._values.has(entryPoint)) {
        this._values.set(entryPoint, hyperparameters);
      }
    }
  }

  /**
   * Return a set-up with another script.
   */
  withScript(job: IJob, entryPoint: string): IJob {
    const left = this._values.get(job.entryPoint) ?? {};
    const come: JsonObject = this._values.get(entryPoint) ?? {};
    const kept = Object.entries(job.hyperparameters).filter(
      ([name, value]) => !(name in left && isSameJson(left[name], value))
    );
    const hyperparameters = { ...come, ...Object.fromEntries(kept) };
    return { ...job, entryPoint, hyperparameters };
  }

  private readonly _values = new Map<string, JsonObject>();
}
