import { expect, it, vi } from 'vitest';
import type { JsonObject } from '@smtc-lab/protocol';
import {
  hyperparameters,
  textOfValue,
  valueOfText
} from '../src/forms/hyperparameters.js';
import { button, host, labelled, problemsIn, type } from './forms_kit.js';
import { HOSTILE, markupOf } from './hostile.js';

function table(values: JsonObject) {
  const root = host();
  const onChange = vi.fn<(values: JsonObject) => void>();
  const component = hyperparameters(root, { values, onChange });
  return { root, component, onChange };
}

it.each([
  [7, '7'],
  [0.1, '0.1'],
  [true, 'true'],
  [null, 'null'],
  ['adam', 'adam'],
  ['7', '"7"'],
  ['', ''],
  [[1, 'a'], '[1,"a"]']
])('writes %j as %s, and reads it back', (value, text) => {
  expect(textOfValue(value)).toBe(text);
  expect(valueOfText(text)).toEqual(value);
});

it('adds a hyperparameter that counts once it has a name', () => {
  const { onChange, root } = table({ a: 1 });

  button(root, 'Add').click();
  expect(document.activeElement).toBe(labelled(root, 'Name', 1));
  expect(onChange).not.toHaveBeenCalled();
  type(labelled(root, 'Name', 1), 'rate');
  type(labelled(root, 'Value', 1), '0.5');

  expect(onChange.mock.lastCall).toEqual([{ a: 1, rate: 0.5 }]);
});

it('removes one, and the focus goes to the next', () => {
  const { onChange, root } = table({ a: 1, b: 2 });

  button(root, 'Remove a').click();

  expect(onChange.mock.lastCall).toEqual([{ b: 2 }]);
  expect(document.activeElement).toBe(button(root, 'Remove b'));
});

it('keeps the order in which they were given', () => {
  const { onChange, root } = table({ b: 1, a: 2, c: 3 });

  type(labelled(root, 'Value', 1), '4');

  expect(Object.keys(onChange.mock.lastCall?.[0] ?? {})).toEqual([
    'b',
    'a',
    'c'
  ]);
});

it('says that a name is given twice, and keeps the first value', () => {
  const { onChange, root } = table({ a: 1, b: 2 });

  type(labelled(root, 'Name', 1), 'a');

  expect(onChange.mock.lastCall).toEqual([{ a: 1 }]);
  expect(problemsIn(root)).toEqual([
    "Hyperparameter 'a' is given twice; this one is without effect. Rename it."
  ]);
});

it('refuses a number that it would change', () => {
  const { root } = table({});
  button(root, 'Add').click();

  type(labelled(root, 'Value'), '12345678901234567890');

  expect(problemsIn(root)[0]).toMatch(/more digits than a browser keeps/);
});

it('keeps what is being typed when the same comes back', () => {
  const { component, root } = table({ a: 1, b: 2 });
  type(labelled(root, 'Value'), '1.50');

  component.update({ values: { a: 1.5, b: 2 } });

  expect(labelled(root, 'Value').value).toBe('1.50');
});

it('shows other values when others come', () => {
  const { component, root } = table({ a: 1 });

  component.update({ values: { b: 'x' } });

  expect(labelled(root, 'Name').value).toBe('b');
  expect(labelled(root, 'Value').value).toBe('x');
});

it('shows hostile names and values as text, and keeps them', () => {
  const usual = markupOf(table({ '<': '<' }).root);
  const one = HOSTILE.filter(text => !/^$|[\r\n]/.test(text));
  const { onChange, root } = table(
    Object.fromEntries(one.map(text => [text, text]))
  );

  button(root, 'Add').click();
  type(labelled(root, 'Name', one.length), 'last');

  expect([...markupOf(root)].filter(name => !usual.has(name))).toEqual([]);
  const kept = onChange.mock.lastCall?.[0] ?? {};
  expect(Object.entries(kept)).toEqual([
    ...one.map(text => [text, text]),
    ['last', '']
  ]);
});
