import { expect, it } from 'vitest';
import cases from '../../../tests/fixtures/learning_rates.json';
import { scaledLearningRate, type Rule } from '../src/index.js';

interface IInput {
  readonly learning_rate: number;
  readonly batch_size: number;
  readonly new_batch_size: number;
  readonly optimizer: string;
  readonly rule?: string;
  readonly job_steps?: number;
}

function inputOf(input: IInput) {
  return {
    baseBatchSize: input.batch_size,
    batchSize: input.new_batch_size,
    learningRate: input.learning_rate,
    optimizer: input.optimizer,
    rule: (input.rule ?? null) as Rule | null,
    jobSteps: input.job_steps ?? null
  };
}

it.each(cases)('suggests what Python suggests: $suggestion.reason', each => {
  const made = scaledLearningRate(inputOf(each.input));

  expect(made?.learningRate).toBeCloseTo(each.suggestion.learning_rate, 9);
  expect(made?.rule).toBe(each.suggestion.rule);
  expect(made?.warmUpSteps).toBe(each.suggestion.warm_up_steps);
  expect(made?.reason).toBe(each.suggestion.reason);
});

it.each([null, 0, -1, NaN, Infinity])(
  'suggests nothing for a batch size of %s',
  batchSize => {
    const input = inputOf(cases[0]?.input as IInput);

    expect(scaledLearningRate({ ...input, batchSize })).toBeNull();
  }
);
