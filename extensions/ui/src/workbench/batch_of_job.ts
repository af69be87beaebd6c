import {
  scaledLearningRate,
  type IJob,
  type JsonObject
} from '@smtc-lab/protocol';
import { batchSizeIn, type IBatchSize } from '../forms/batch_size.js';

/**
 * What the form for the batch size of a job says, which has more than the job itself.
 */
export class BatchOfJob {
  constructor(job: IJob) {
    this._values = batchSizeIn(job.hyperparameters);
  }

  get values(): IBatchSize {
    return this._values;
  }

  /**
   * Take note that the batch size is another, as with another script or after Undo.
   */
  follow(before: JsonObject, values: JsonObject): void {
    const { batchSizeName } = this._values;
    const given = values[batchSizeName];
    if (given !== before[batchSizeName]) {
      const batchSize = typeof given === 'number' ? given : null;
      this._values = { ...this._values, batchSize };
    }
  }

  /**
   * Return the hyperparameters of a job after a change in the form.
   */
  changed(job: IJob, changed: Partial<IBatchSize>): JsonObject {
    this._values = { ...this._values, ...changed };
    const { batchSize, batchSizeName, learningRateName } = this._values;
    const rate = scaledLearningRate({
      ...this._values,
      jobSteps: job.maxSteps
    });
    return {
      ...job.hyperparameters,
      ...(batchSize === null ? {} : { [batchSizeName]: batchSize }),
      ...(rate === null ? {} : { [learningRateName]: rate.learningRate })
    };
  }

  private _values: IBatchSize;
}
