import { expect, it, vi } from 'vitest';
import { argumentsField } from '../src/forms/arguments_field.js';
import { host, labelled, problemsIn, type } from './forms_kit.js';

function field(value: readonly string[] | string, problems: string[] = []) {
  const root = host();
  const onChange = vi.fn<(value: readonly string[] | string) => void>();
  const component = argumentsField(root, { value, problems, onChange });
  return { root, component, onChange, line: labelled(root, 'Arguments') };
}

it('shows arguments quoted as a shell takes them', () => {
  const { line } = field(['--dummy', 'two words', '']);

  expect(line.value).toBe("--dummy 'two words' ''");
});

it('tells the words of what is typed', () => {
  const { line, onChange } = field([]);

  type(line, '--dummy --name "two words"');

  expect(onChange).toHaveBeenLastCalledWith(['--dummy', '--name', 'two words']);
});

it('leaves what is typed as it is while it means the same', () => {
  const { component, line } = field([]);
  type(line, '--name  "two words" ');

  component.update({ value: ['--name', 'two words'] });
  expect(line.value).toBe('--name  "two words" ');

  component.update({ value: ['--name', 'three'] });
  expect(line.value).toBe('--name three');
});

it.each([
  [
    "--name 'two",
    "The quote ' is not closed. Close it, or put a \\ before it."
  ],
  [
    '--name "two',
    'The quote " is not closed. Close it, or put a \\ before it.'
  ],
  [
    '--name \\',
    'Nothing stands behind the last \\. Drop it, or write it twice.'
  ]
])('says at the field what is open in %s', (text, problem) => {
  const { root, line, onChange } = field(['--dummy']);

  type(line, text);

  expect(onChange).toHaveBeenLastCalledWith(text);
  expect(problemsIn(root)).toEqual([problem]);
  expect(line.getAttribute('aria-invalid')).toBe('true');
  const told = line.getAttribute('aria-describedby')?.split(' ') ?? [];
  expect(told.map(id => document.getElementById(id)?.textContent)).toContain(
    problem
  );

  type(line, '--name two');
  expect(problemsIn(root)).toEqual([]);
});

it('shows a line that came back, open as it is', () => {
  const { root, line } = field("--name 'two", ['must be a list.']);

  expect(line.value).toBe("--name 'two");
  expect(problemsIn(root)).toHaveLength(1);
  expect(problemsIn(root)[0]).toContain('not closed');
});

it('shows what Python found wrong', () => {
  const { root } = field(['a'], ['A job has 1001 arguments.']);

  expect(problemsIn(root)).toEqual(['A job has 1001 arguments.']);
});

it('does not lose a line break: such arguments are changed in Python', () => {
  const { root, line, component } = field(['a\nb']);

  expect(line.disabled).toBe(true);
  expect(root.textContent).toContain('line break');
  component.update({ value: ['a'] });
  expect(line.disabled).toBe(false);
});
