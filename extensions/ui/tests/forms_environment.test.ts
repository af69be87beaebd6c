import { expect, it, vi } from 'vitest';
import {
  COMPILER_DEFAULTS,
  parseEnvironments,
  type CompilerConfig,
  type IEnvironments
} from '@smtc-lab/protocol';
import wire from '../../../tests/fixtures/environments.json';
import { compilerSettings } from '../src/forms/compiler_settings.js';
import { environmentField } from '../src/forms/environment_field.js';
import { button, choice, host, problemsIn, type } from './forms_kit.js';

const environments = parseEnvironments(wire);
const XLA: CompilerConfig = { ...COMPILER_DEFAULTS, backend: 'xla' };

function field(
  value: string | null,
  problems: readonly string[] = [],
  given = environments
) {
  const root = host();
  const onChange = vi.fn<(name: string | null) => void>();
  const onOpen = vi.fn();
  const props = { value, environments: given, problems, onChange, onOpen };
  const component = environmentField(root, props);
  return { root, component, onChange, onOpen };
}

function compiler(changed: Partial<IEnvironments> = {}, config = XLA) {
  const root = host();
  const onMake = vi.fn();
  const component = compilerSettings(root, {
    config,
    environments: { ...environments, ...changed },
    pythonEnvironment: null,
    onMake,
    onChange: vi.fn()
  });
  const status = (): string | null | undefined =>
    root.querySelector('[role=status]')?.textContent;
  return { root, component, onMake, status };
}

function making(
  state: IEnvironments['making']['state'],
  sentence: string
): IEnvironments {
  return { ...environments, making: { state, sentence } };
}

it('offers every environment with its versions, that of the launch first', () => {
  const { root } = field(null);
  const select = choice(root, 'Python environment');

  expect([...select.options].map(option => option.text)).toEqual([
    'today (torch 2.15.0)',
    'bare (cannot be used)',
    'torch-2.9 (torch 2.9.1, torch_xla 2.9.0)'
  ]);
  expect(select.value).toBe('today');
});

it('lists what cannot be chosen with the reason', () => {
  const { root } = field(null);
  const select = choice(root, 'Python environment');

  expect([...select.options].map(option => option.disabled)).toEqual([
    false,
    true,
    false
  ]);
  expect(root.querySelector('details')?.textContent).toMatch(
    /^Why bare cannot be chosen.*has no torch, which a job needs\. Run: /
  );
});

it('names the environment of the launch as none', () => {
  const { onChange, root } = field(null);
  const select = choice(root, 'Python environment');

  type(select, 'torch-2.9');
  type(select, 'today');

  expect(onChange.mock.calls).toEqual([['torch-2.9'], [null]]);
});

it('keeps a name that is not there, and says what is wrong with it', () => {
  const { root } = field('gone', ["There is no environment named 'gone'."]);
  const select = choice(root, 'Python environment');

  expect(select.value).toBe('gone');
  expect(select.getAttribute('aria-invalid')).toBe('true');
  expect(problemsIn(root)).toEqual(["There is no environment named 'gone'."]);
});

it('tells how to make another one while there is none', () => {
  const alone = { ...environments, choices: environments.choices.slice(0, 1) };
  const { component, root } = field(null, [], alone);
  expect(root.textContent).toContain('smtc-lab environment make torch-');

  component.update({ environments });

  expect(root.textContent).not.toContain('smtc-lab environment make torch-');
});

it('looks for news when it is about to be opened', () => {
  const { onOpen, root } = field(null);

  choice(root, 'Python environment').focus();

  expect(onOpen).toHaveBeenCalledTimes(1);
});

it('is not touched by news that change nothing', () => {
  const { component, root } = field(null);
  const before = [...choice(root, 'Python environment').options];

  component.update({ environments: parseEnvironments(wire) });

  expect([...choice(root, 'Python environment').options]).toEqual(before);
  expect(before[0]?.isConnected).toBe(true);
});

it('says what XLA needs, and makes it at the press of a button', () => {
  const { onMake, root } = compiler();
  expect(problemsIn(root)).toEqual([environments.noXla]);

  button(root, 'Make it').click();

  expect(onMake).toHaveBeenCalledTimes(1);
  expect(button(root, 'Make it').hidden).toBe(true);
  expect(root.querySelector('progress')?.hidden).toBe(false);
});

it('tells while it is being made what is done, and offers no second start', () => {
  const { component, root, status } = compiler();
  button(root, 'Make it').click();

  component.update({
    environments: making('making', 'Installing 80 packages.')
  });

  expect(status()).toBe('Installing 80 packages.');
  expect(problemsIn(root)).toEqual([]);
  expect(button(root, 'Make it').hidden).toBe(true);
  expect(document.activeElement).toBe(root.querySelector('[role=status]'));
});

it('says why it failed, and lets one try again', () => {
  const { component, onMake, root, status } = compiler();
  button(root, 'Make it').click();

  component.update({ environments: making('failed', 'The disk is full.') });

  expect(status()).toBe('The disk is full.');
  expect(root.querySelector('progress')?.hidden).toBe(true);
  button(root, 'Make it').click();
  expect(onMake).toHaveBeenCalledTimes(2);
  expect(status()).not.toBe('The disk is full.');
});

it('is usable once it is made, and says so', () => {
  const { component, root, status } = compiler(making('making', ''));

  component.update({
    environments: { ...making('done', "'xla' is ready."), noXla: '' }
  });

  expect(status()).toBe("'xla' is ready.");
  expect(problemsIn(root)).toEqual([]);
  expect(button(root, 'Make it').hidden).toBe(true);
});

it('offers it again when it was removed since', () => {
  const { root, status } = compiler(making('done', "'xla' is ready."));

  expect(status()).toBe('');
  expect(button(root, 'Make it').hidden).toBe(false);
});

it.each(['inductor', 'auto'] as const)('is not in the way of %s', backend => {
  const { root } = compiler({}, { ...XLA, backend });

  expect(root.querySelector<HTMLElement>('.smtc-xla')?.hidden).toBe(true);
});

it('makes nothing for an environment that has another XLA than it needs', () => {
  const { component, root } = compiler();
  const [today] = environments.choices;
  const broken = { name: 'xla', problem: '', noXla: 'It is too old.' };
  const choices = today === undefined ? [] : [today, { ...today, ...broken }];

  component.update({
    environments: { ...environments, choices, noXla: 'It is too old.' }
  });

  expect(problemsIn(root)).toEqual(['It is too old.']);
  expect(button(root, 'Make it').hidden).toBe(true);
});
