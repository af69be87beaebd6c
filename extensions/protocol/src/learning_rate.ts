import { pythonShort } from './python_number.js';

/**
 * How a learning rate follows the batch size: in proportion, or with its square root.
 */
export type Rule = 'linear' | 'sqrt';

/**
 * A learning rate that may suit a batch size. A suggestion: training decides.
 *
 * Mirrors `smtc_lab.metrics.batch.learning_rate`; both read `tests/fixtures/learning_rates.json`.
 */
export interface ILearningRate {
  readonly rule: Rule;

  /**
   * The learning rate after the warm-up.
   */
  readonly learningRate: number;

  /**
   * Steps over which to raise it from near 0; 0: none is needed.
   */
  readonly warmUpSteps: number;

  /**
   * Why, in one sentence, with its source.
   */
  readonly reason: string;
}

/**
 * What a suggestion is made from. Null: its field is empty.
 */
export interface ILearningRateInput {
  /**
   * Batch size that `learningRate` suits, over all devices.
   */
  readonly baseBatchSize: number | null;

  readonly batchSize: number | null;
  readonly learningRate: number | null;

  /**
   * Class name of the optimizer.
   */
  readonly optimizer: string;

  /**
   * Null: the one that suits the optimizer.
   */
  readonly rule: Rule | null;

  /**
   * Steps of the job, a tenth of which is the longest warm-up; null: unknown.
   */
  readonly jobSteps: number | null;
}

/**
 * Return the learning rate to try at another batch size; null where a number is missing or not
 * above 0.
 */
export function scaledLearningRate(
  input: ILearningRateInput
): ILearningRate | null {
  const { baseBatchSize, batchSize, learningRate, optimizer } = input;
  if (
    !isPositive(baseBatchSize) ||
    !isPositive(batchSize) ||
    !isPositive(learningRate)
  ) {
    return null;
  }
  const rule = input.rule ?? defaultRule(optimizer);
  const growth = batchSize / baseBatchSize;
  const factor = rule === 'linear' ? growth : Math.sqrt(growth);
  return {
    rule,
    learningRate: learningRate * factor,
    warmUpSteps: warmUpSteps(factor, input.jobSteps),
    reason: reasonFor(rule, optimizer, growth, input.rule !== null)
  };
}

/**
 * Return the rule that suits an optimizer, by its class name.
 */
export function defaultRule(optimizer: string): Rule {
  const name = optimizer.toLowerCase().split('.').at(-1) ?? '';
  return name === 'sgd' || name === 'asgd' ? 'linear' : 'sqrt';
}

function warmUpSteps(factor: number, jobSteps: number | null): number {
  if (factor <= 1) {
    return 0;
  }
  const steps = Math.ceil(100 * Math.log2(factor));
  return jobSteps === null
    ? steps
    : Math.min(steps, Math.floor(0.1 * jobSteps));
}

function reasonFor(
  rule: Rule,
  optimizer: string,
  growth: number,
  isGiven: boolean
): string {
  const how =
    rule === 'linear'
      ? 'in proportion to the batch'
      : "with the batch's square root";
  const source =
    rule === 'linear' ? 'Goyal et al. 2017' : 'Malladi et al. 2022';
  const who = isGiven ? 'as asked for' : `as usual for ${optimizer}`;
  return (
    `The batch is ${pythonShort(growth)} times as large; the learning rate goes ${how}, ` +
    `${who} (${source}). A suggestion to start a search from, not a measurement.`
  );
}

function isPositive(value: number | null): value is number {
  return value !== null && Number.isFinite(value) && value > 0;
}
