import { expect, it, vi } from 'vitest';
import { instanceTypePicker } from '../src/forms/instance_type_picker.js';
import {
  choice,
  button,
  catalog,
  host,
  labelled,
  press,
  type
} from './forms_kit.js';

function picker() {
  const onChange = vi.fn();
  const root = host();
  const component = instanceTypePicker(root, {
    label: 'Type',
    value: 'ml.p3.2xlarge',
    catalog,
    onChange
  });
  const input = labelled(root, 'Type');
  const active = (): string | null | undefined =>
    document
      .getElementById(input.getAttribute('aria-activedescendant') ?? '')
      ?.querySelector('td')?.textContent;
  const rows = (): number => root.querySelectorAll('tbody tr').length;
  return { root, component, input, onChange, active, rows };
}

it('makes its list only when it is opened', () => {
  const { input, root, rows } = picker();

  expect(rows()).toBe(0);
  press(input, 'ArrowDown');

  expect(rows()).toBe(catalog.size + 1);
  expect(input.getAttribute('aria-expanded')).toBe('true');
  expect(root.querySelector('[role=grid]')?.id).toBe(
    input.getAttribute('aria-controls')
  );
});

it('begins at the chosen type, and goes from there by keys', () => {
  const { active, input } = picker();

  press(input, 'ArrowDown');
  expect(active()).toBe('ml.p3.2xlarge');
  press(input, 'Home');
  expect(active()).toBe('local');
  press(input, 'ArrowUp');
  expect(active()).toBe('local');
  press(input, 'ArrowDown');
  expect(active()).toBe('ml.m4.xlarge');
  press(input, 'End');
  press(input, 'ArrowDown');
  expect(active()).toBe([...catalog.keys()].at(-1));
});

it('chooses what was typed with Enter, and tells it once', () => {
  const { input, onChange } = picker();

  type(input, 'c5.18');
  press(input, 'Enter');

  expect(onChange.mock.calls).toEqual([['ml.c5.18xlarge']]);
  expect(input.value).toBe('ml.c5.18xlarge');
  expect(input.getAttribute('aria-expanded')).toBe('false');
});

it('forgets what was typed with Escape', () => {
  const { input, onChange } = picker();

  type(input, 'c5');
  press(input, 'Escape');

  expect(onChange).not.toHaveBeenCalled();
  expect(input.value).toBe('ml.p3.2xlarge');
  expect(input.getAttribute('aria-expanded')).toBe('false');
});

const UNKNOWN =
  /^Instance type 'ml\.p3\.3xlarge' is not one of the .*Did you mean ml\.p3\.2xlarge/;

it.each([
  [
    'Enter',
    (input: HTMLElement) => {
      press(input, 'Enter');
    }
  ],
  [
    'leaving',
    (input: HTMLElement) =>
      input.dispatchEvent(new FocusEvent('focusout', { bubbles: true }))
  ]
])('keeps an unknown type as typed on %s, and says so', (_, end) => {
  const { input, onChange, root } = picker();

  type(input, 'ml.p3.3xlarge');
  end(input);

  expect(onChange.mock.calls).toEqual([['ml.p3.3xlarge']]);
  expect(input.value).toBe('ml.p3.3xlarge');
  expect(input.getAttribute('aria-invalid')).toBe('true');
  expect(input.getAttribute('aria-expanded')).toBe('false');
  expect(root.querySelector('.smtc-problem')?.textContent).toMatch(UNKNOWN);

  press(input, 'ArrowDown');
  press(input, 'Enter');
  expect(input.value).toBe('ml.p3.3xlarge');
});

it('takes a near type that the keys went to', () => {
  const { input, onChange } = picker();

  type(input, 'ml.p3.3xlarge');
  press(input, 'ArrowDown');
  press(input, 'Home');
  press(input, 'Enter');

  expect(onChange).not.toHaveBeenCalled(); // the nearest is the former one
  expect(input.value).toBe('ml.p3.2xlarge');
  expect(input.getAttribute('aria-invalid')).toBe('false');
});

it('takes the name of a type without its prefix when it is left', () => {
  const { input, onChange } = picker();

  type(input, 'C5.18xlarge');
  input.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));

  expect(onChange.mock.calls).toEqual([['ml.c5.18xlarge']]);
});

it('moves nothing under a mouse button until the click', () => {
  const { input, onChange, root } = picker();
  const run = document.createElement('button');
  const states: (string | null)[] = [];
  run.onclick = () => {
    states.push(input.getAttribute('aria-expanded'), input.value);
  };
  root.append(run);
  type(input, 'c5.18xlarge');

  run.dispatchEvent(new MouseEvent('mousedown', { bubbles: true }));
  input.dispatchEvent(
    new FocusEvent('focusout', { bubbles: true, relatedTarget: run })
  );
  expect(input.getAttribute('aria-expanded')).toBe('true');
  run.dispatchEvent(new MouseEvent('mouseup', { bubbles: true }));
  run.click();

  expect(states).toEqual(['false', 'ml.c5.18xlarge']);
  expect(onChange.mock.calls).toEqual([['ml.c5.18xlarge']]);
});

it('chooses a row that is clicked', () => {
  const { input, onChange, root } = picker();

  input.click();
  root.querySelectorAll('tbody tr').item(1).dispatchEvent(new Event('click'));

  expect(onChange.mock.calls).toEqual([['ml.m4.xlarge']]);
});

it('sorts by a heading: upwards, downwards, and as it was', () => {
  const { input, root } = picker();
  const first = (): string | null | undefined =>
    root.querySelector('tbody td')?.textContent;
  const heading = (): string | null | undefined =>
    root.querySelector('th.smtc-vcpus')?.getAttribute('aria-sort');
  input.click();

  const seen = [];
  for (let times = 0; times < 3; times += 1) {
    button(root, 'vCPUs').click();
    seen.push([heading(), first()]);
  }

  expect(seen).toEqual([
    ['ascending', 'ml.m4.xlarge'],
    ['descending', 'ml.p5e.48xlarge'],
    ['none', 'local']
  ]);
});

it('narrows the list by filters, and clears them', () => {
  const { input, root, rows } = picker();
  input.click();

  type(labelled(root, 'vCPUs from'), '72');
  expect(rows()).toBe(3);
  type(choice(root, 'Accelerator'), 'none');
  expect(rows()).toBe(1);
  button(root, 'Clear').click();

  expect(rows()).toBe(catalog.size + 1);
});

it('closes when the focus leaves it', () => {
  const { component, input } = picker();

  input.click();
  component.element.dispatchEvent(
    new FocusEvent('focusout', { relatedTarget: document.body })
  );

  expect(input.getAttribute('aria-expanded')).toBe('false');
});

it('says what the chosen type has and costs', () => {
  const { root } = picker();

  expect(root.textContent).toContain(
    '8 vCPUs, 61 GiB, 1 × NVIDIA V100, 2.5 Gbit/s, $3.825/h historical 2022-10-27'
  );
});

it('draws price and size as bars, beside the largest that is shown', () => {
  const { input, root } = picker();
  press(input, 'ArrowDown');
  const share = (row: Element, column: string): number =>
    parseFloat(
      row
        .querySelector<HTMLElement>(`.smtc-${column}`)
        ?.style.getPropertyValue('--smtc-share') ?? ''
    );
  const shown = (column: string): readonly (readonly [number, number])[] =>
    [...root.querySelectorAll('tbody tr')]
      .filter(row => row.querySelector('.smtc-vcpus') !== null)
      .map(row => [
        parseFloat(row.querySelector(`.smtc-${column}`)?.textContent ?? '') ||
          0,
        share(row, column)
      ]);

  for (const column of ['vcpus', 'memory', 'price']) {
    const bars = shown(column).filter(([size]) => size > 0);
    const largest = Math.max(...bars.map(([size]) => size));
    const smallest = Math.min(...bars.map(([size]) => size));
    for (const [size, length] of bars) {
      const doublings = Math.log2(size / smallest) + 1;
      const most = Math.log2(largest / smallest) + 1;
      expect(length).toBeCloseTo((100 * doublings) / most, 0);
    }
  }
  input.value = 'p3.2';
  input.dispatchEvent(new Event('input', { bubbles: true }));
  expect(shown('price').map(([, length]) => length)).toEqual([100]);
});
