import { expect, it, vi } from 'vitest';
import {
  COMPILER_DEFAULTS,
  NO_ENVIRONMENTS,
  type CompilerConfig
} from '@smtc-lab/protocol';
import { compilerSettings } from '../src/forms/compiler_settings.js';
import { batchSize, type IBatchSize } from '../src/forms/batch_size.js';
import { choice, host, labelled, problemsIn, type } from './forms_kit.js';

function settings(config: CompilerConfig | null) {
  const root = host();
  const onChange = vi.fn<(config: CompilerConfig | null) => void>();
  const component = compilerSettings(root, {
    config,
    environments: NO_ENVIRONMENTS,
    pythonEnvironment: null,
    onMake: vi.fn(),
    onChange
  });
  return { root, component, onChange };
}

const NUMBERS: IBatchSize = {
  batchSize: 256,
  baseBatchSize: 32,
  learningRate: 0.1,
  optimizer: 'SGD',
  rule: null,
  batchSizeName: 'batch_size',
  learningRateName: 'learning_rate'
};

function batch(values: Partial<IBatchSize> = {}) {
  const root = host();
  const onChange = vi.fn<(changed: Partial<IBatchSize>) => void>();
  const given = { ...NUMBERS, ...values };
  batchSize(root, { values: given, jobSteps: null, onChange });
  const suggestion = (): string | null | undefined =>
    root.querySelector('.smtc-suggestion')?.textContent;
  return { root, onChange, suggestion };
}

it('begins plain, with all settings switched off for a reason', () => {
  const { root } = settings(null);

  expect(choice(root, 'Compiler').value).toBe('');
  expect(labelled(root, 'Precision').disabled).toBe(true);
  expect(root.textContent).toContain('the step runs as plain PyTorch');
});

it('has the defaults once a compiler is chosen', () => {
  const { onChange, root } = settings(null);

  type(labelled(root, 'Compiler'), 'inductor');

  expect(onChange.mock.calls).toEqual([
    [{ ...COMPILER_DEFAULTS, backend: 'inductor' }]
  ]);
  expect(labelled(root, 'Precision').disabled).toBe(false);
});

it('keeps what was set when plain was only a look aside', () => {
  const config = { ...COMPILER_DEFAULTS, debug: true };
  const { onChange, root } = settings(config);

  type(labelled(root, 'Compiler'), '');
  expect(onChange.mock.lastCall).toEqual([null]);
  type(labelled(root, 'Compiler'), 'xla');

  expect(onChange.mock.lastCall).toEqual([{ ...config, backend: 'xla' }]);
});

it('switches off what the backend does not have, and says why', () => {
  const { root } = settings({ ...COMPILER_DEFAULTS, backend: 'xla' });
  const mode = labelled(root, 'Mode');

  expect(mode.disabled).toBe(true);
  expect(mode.closest('.smtc-field')?.textContent).toContain(
    'Without effect under xla: only inductor has it.'
  );
});

it.each([
  ['Precision', 'bf16', { precision: 'bf16' }],
  ['Mode', 'max-autotune', { mode: 'max-autotune' }],
  ['Any shape', 'true', { dynamic: true }],
  ['Any shape', '', { dynamic: null }],
  ['Layer by layer', 'false', { per_block: false }],
  ['If it cannot be compiled', 'eager', { fallback: 'eager' }],
  ['Longest compilation, seconds', '60', { timeout_s: 60 }]
])('changes %s to %s', (label, text, changed) => {
  const { onChange, root } = settings(COMPILER_DEFAULTS);

  type(labelled(root, label), text);

  expect(onChange.mock.lastCall).toEqual([
    { ...COMPILER_DEFAULTS, ...changed }
  ]);
});

it.each([
  ['Fused optimizer', 'fused_optimizer'],
  ['Keep memory', 'keep_memory'],
  ['Debug files', 'debug'],
  ['Cache', 'cache'],
  ['Check parity', 'check_parity'],
  ['Hand the step to the compiler', 'enabled']
] as const)('ticks %s', (label, setting) => {
  const { onChange, root } = settings(COMPILER_DEFAULTS);

  labelled(root, label).click();

  expect(onChange.mock.lastCall?.[0]?.[setting]).toBe(
    !COMPILER_DEFAULTS[setting]
  );
});

it('says what is wrong with a time limit, beside it', () => {
  const { component, root } = settings(COMPILER_DEFAULTS);

  type(labelled(root, 'Longest compilation, seconds'), '-1');
  const [own] = problemsIn(root);
  component.update({ problems: [own ?? ''] });

  expect(problemsIn(root)).toEqual([
    'timeout_s=-1.0 is outside 0 to 86400 seconds. Give the longest time that one ' +
      'compilation may take.'
  ]);
});

it('suggests a learning rate, and says why', () => {
  const { suggestion } = batch();

  expect(suggestion()).toMatch(
    /^Suggested: learning_rate=0.8, raised over the first 300 steps\..*Goyal et al\. 2017/
  );
});

it('suggests nothing while a number is missing', () => {
  const { root, suggestion } = batch();

  type(labelled(root, 'Its learning rate'), '');

  expect(suggestion()).toMatch(/^With a batch size/);
});

it('tells what changed, and only that', () => {
  const { onChange, root } = batch();

  type(labelled(root, 'Batch size'), '64');
  choice(root, 'Rule').value = 'sqrt';
  labelled(root, 'Rule').dispatchEvent(new Event('change'));
  type(labelled(root, 'Optimizer'), 'Adam');

  expect(onChange.mock.calls).toEqual([
    [{ batchSize: 64 }],
    [{ rule: 'sqrt' }],
    [{ optimizer: 'Adam' }]
  ]);
});

it.each([
  [{ batchSize: 0 }, 'batch_size=0 is not above 0. Give a number above 0.'],
  [
    { baseBatchSize: 1.5 },
    'base_batch_size=1.5 is not a whole number. Drop its decimals.'
  ],
  [
    { batchSizeName: 'learning_rate' },
    "Batch size and learning rate are both the hyperparameter 'learning_rate'. Rename one of " +
      'them.'
  ]
])('says what is wrong with %j', (values, problem) => {
  const { root } = batch(values);

  expect(problemsIn(root)).toEqual([problem]);
});
