import { hyperparameterNameProblem, pythonRepr } from '@smtc-lab/protocol';
import type { IBatchSize } from './batch_size.js';

/**
 * What is wrong in the form for the batch size, and beside which field it belongs.
 */
export interface IBatchSizeProblem {
  readonly field: keyof IBatchSize;

  /**
   * The same sentence that Python writes.
   */
  readonly text: string;
}

const NUMBERS = [
  ['batchSize', 'batch_size'],
  ['baseBatchSize', 'base_batch_size'],
  ['learningRate', 'learning_rate']
] as const;

/**
 * Return what is wrong with numbers and names, in Python's words.
 */
export function batchSizeProblems(
  values: IBatchSize
): readonly IBatchSizeProblem[] {
  const problems: IBatchSizeProblem[] = [];
  for (const [field, name] of NUMBERS) {
    const text = numberProblem(name, values[field]);
    if (text !== null) {
      problems.push({ field, text });
    }
  }
  const { batchSizeName, learningRateName } = values;
  if (batchSizeName === learningRateName) {
    const text =
      'Batch size and learning rate are both the hyperparameter ' +
      `${pythonRepr(batchSizeName.slice(0, 80))}. Rename one of them.`;
    return [...problems, { field: 'learningRateName', text }];
  }
  for (const field of ['batchSizeName', 'learningRateName'] as const) {
    const text = hyperparameterNameProblem(values[field]);
    if (text !== null) {
      problems.push({ field, text });
    }
  }
  return problems;
}

function numberProblem(name: string, value: number | null): string | null {
  if (value === null) {
    return null;
  }
  if (value <= 0) {
    return `${name}=${value} is not above 0. Give a number above 0.`;
  }
  return name === 'learning_rate' || Number.isInteger(value)
    ? null
    : `${name}=${value} is not a whole number. Drop its decimals.`;
}
