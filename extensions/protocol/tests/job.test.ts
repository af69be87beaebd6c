// @vitest-environment node
import { expect, it } from 'vitest';
import schema from '../schema/training_job.json';
import {
  COMPILER_DEFAULTS,
  hyperparameterNameProblem,
  jobToJson,
  parseCompilerConfig,
  parseJob,
  pythonRepr,
  whyWithoutEffect
} from '../src/index.js';

// without types of their own: names in variables keep the type checker from looking for them
const MAKER = '../make_types.mjs';
const TYPES = '../src/generated/training_job.ts?raw';

it('has types that were made from the schema', async () => {
  const { typesOf } = (await import(MAKER)) as {
    typesOf: (json: unknown) => Promise<string>;
  };
  const types = (await import(TYPES)) as { default: string };

  expect(types.default, 'run node protocol/make_types.mjs').toBe(
    await typesOf(schema)
  );
});

it('gives a job back with the fields that no form shows', () => {
  const job = {
    entry_point: 'train.py',
    cluster: {
      instance_groups: [
        {
          instance_group_name: 'a',
          instance_type: 'local',
          instance_count: 1,
          role: null,
          runs: null
        }
      ],
      name: null
    },
    hyperparameters: { rate: 0.1 },
    arguments: ['--dummy'],
    python_environment: 'torch-2.9',
    compiler_config: null,
    max_steps: 200,
    seed: 7,
    environment: { A: 'b' }
  };

  expect(jobToJson(parseJob(job))).toEqual(job);
});

it('fills settings that are not given with their defaults', () => {
  expect(parseCompilerConfig({ backend: 'xla' })).toEqual({
    ...COMPILER_DEFAULTS,
    backend: 'xla'
  });
  expect(COMPILER_DEFAULTS).toMatchObject({ backend: 'auto', timeout_s: 1800 });
});

it.each([
  ['inductor', 'mode', null],
  ['auto', 'cache', null],
  ['xla', 'mode', /only inductor/],
  ['xla', 'fused_optimizer', /compiles the optimizer/],
  ['eager', 'fallback', /nothing is compiled/],
  ['eager', 'precision', null]
] as const)('under %s, %s is without effect: %s', (backend, setting, why) => {
  const reason = whyWithoutEffect(setting, { ...COMPILER_DEFAULTS, backend });

  if (why === null) {
    expect(reason).toBeNull();
  } else {
    expect(reason).toMatch(why);
  }
});

it('switches everything off but the switch itself', () => {
  const off = { ...COMPILER_DEFAULTS, enabled: false };

  expect(whyWithoutEffect('enabled', off)).toBeNull();
  expect(whyWithoutEffect('precision', off)).toMatch(/not handed/);
  expect(whyWithoutEffect('precision', null)).toMatch(/plain PyTorch/);
});

it('refuses a name of a hyperparameter in Python’s words', () => {
  expect(hyperparameterNameProblem('a b')).toMatch(
    /^Hyperparameter name 'a b' is not/
  );
  expect(hyperparameterNameProblem('learning-rate.2')).toBeNull();
});

it.each([
  ["it's", '"it\'s"'],
  ['a\'b"c', "'a\\'b\"c'"],
  ['back\\slash', "'back\\\\slash'"]
])('writes %s as Python does', (text, written) => {
  expect(pythonRepr(text)).toBe(written);
});
