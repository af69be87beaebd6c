import { expect, it, vi } from 'vitest';
import type { ICluster } from '@smtc-lab/protocol';
import { clusterDesigner } from '../src/forms/cluster_designer.js';
import {
  choice,
  button,
  catalog,
  clusterOf,
  host,
  labelled,
  problemsIn,
  type
} from './forms_kit.js';
import { HOSTILE, markupOf } from './hostile.js';

const PAIR = clusterOf(
  ['dnn_group', 'ml.p3.2xlarge'],
  ['data_group', 'ml.c5.9xlarge']
);

function designer(cluster: ICluster = PAIR) {
  const root = host();
  const onChange = vi.fn<(cluster: ICluster) => void>();
  const component = clusterDesigner(root, { cluster, catalog, onChange });
  const names = (): string[] =>
    [...root.querySelectorAll<HTMLInputElement>('.smtc-group')].map(
      (_, place) => labelled(root, 'Name', place).value
    );
  const total = (): string | null | undefined =>
    root.querySelector('.smtc-total')?.textContent;
  return { root, component, onChange, names, total };
}

it('tells the price of an hour, with its kind and date, while it changes', () => {
  const { root, total } = designer();

  type(labelled(root, 'Count', 1), '3');

  expect(total()).toBe(
    '$9.333/h for 4 instances. Prices: ml.p3.2xlarge $3.825/h ' +
      `${origin('ml.p3.2xlarge')}; ml.c5.9xlarge $1.836/h ${origin('ml.c5.9xlarge')}.`
  );
});

function origin(name: string): string {
  const price = catalog.get(name)?.price;
  return `${price?.kind ?? ''} ${price?.date ?? ''}`;
}

it('says that a price is unknown, and not that it is 0', () => {
  const { total } = designer(clusterOf(['a', 'ml.p5e.48xlarge']));

  expect(total()).toBe(
    'Price unknown for 1 instance. Prices: ml.p5e.48xlarge price unknown.'
  );
});

it('says of this machine what a launch plan says', () => {
  const { total, root } = designer(clusterOf(['a', 'local']));

  expect(total()).toBe('1 instance: this machine has no price.');
  expect(root.textContent).not.toContain('unknown');
});

it('adds a group that prepares data where there is none', () => {
  const { onChange, root } = designer(clusterOf(['dnn', 'ml.p3.2xlarge']));

  button(root, 'Add').click();

  const added = onChange.mock.lastCall?.[0].groups[1];
  expect(added).toMatchObject({ name: 'data_group', role: null, count: 1 });
  expect(choice(root, 'Role', 1).selectedOptions[0]?.text).toBe(
    'automatic: prepares data'
  );
  expect(document.activeElement).toBe(labelled(root, 'Name', 1));
});

it('copies a group under a free name, beside it', () => {
  const { names, root } = designer();

  button(root, 'Copy dnn_group').click();
  button(root, 'Copy dnn_group').click();

  expect(names()).toEqual([
    'dnn_group',
    'dnn_group_3',
    'dnn_group_2',
    'data_group'
  ]);
});

it('allows five groups', () => {
  const { names, root } = designer();

  for (let times = 0; times < 9; times += 1) {
    button(root, 'Add').click();
  }

  expect(names()).toHaveLength(5);
  expect(button(root, 'Add').disabled).toBe(true);
  expect(button(root, 'Copy data_group').disabled).toBe(true);
});

it('removes a group, and puts it back where it was', () => {
  const { names, onChange, root } = designer();

  button(root, 'Remove dnn_group').click();
  expect(names()).toEqual(['data_group']);
  expect(document.activeElement).toBe(button(root, 'Undo'));
  button(root, 'Undo').click();

  expect(names()).toEqual(['dnn_group', 'data_group']);
  expect(onChange.mock.lastCall?.[0]).toEqual(PAIR);
});

it('keeps the last group', () => {
  const { root } = designer(clusterOf(['a', 'local']));

  expect(button(root, 'Remove a').disabled).toBe(true);
});

it('moves a group, and the focus with it', () => {
  const { names, root } = designer();

  button(root, 'Down dnn_group').click();

  expect(names()).toEqual(['data_group', 'dnn_group']);
  expect(document.activeElement).toBe(button(root, 'Up dnn_group'));
});

function description(control: HTMLElement): string {
  const ids = control.getAttribute('aria-describedby')?.split(' ') ?? [];
  return ids.map(id => document.getElementById(id)?.textContent).join(' ');
}

it('knows no price while a count is none', () => {
  const { root, total } = designer();

  type(labelled(root, 'Count'), '0');

  expect(total()).toMatch(/^Price unknown/);
});

it('shows a problem beside its field, before Python knows', () => {
  const { root } = designer();

  type(labelled(root, 'Name'), 'not a name');

  const name = labelled(root, 'Name');
  expect(name.getAttribute('aria-invalid')).toBe('true');
  expect(description(name)).toContain(
    "Instance group name 'not a name' is not 1 to 64 letters"
  );
});

it('shows what both sides found once, and what only Python knows', () => {
  const { component, root } = designer();
  type(labelled(root, 'Count'), '0');
  const [own] = problemsIn(root);

  component.update({ problems: [own ?? '', 'Only Python knows.'] });

  expect(problemsIn(root)).toEqual([own, 'Only Python knows.']);
});

it('tells changes with an empty count, for Python to refuse', () => {
  const { onChange, root } = designer();

  type(labelled(root, 'Count'), '');

  expect(onChange.mock.lastCall?.[0].groups[0]?.count).toBeNull();
  expect(problemsIn(root)).toHaveLength(1);
});

it('leaves a field alone that already says what is told', () => {
  const { component, root } = designer();
  const name = labelled(root, 'Name');
  name.value = 'dnn_group';
  name.setSelectionRange(3, 3);

  component.update({ cluster: clusterOf(['dnn_group', 'ml.c5.9xlarge']) });

  expect(labelled(root, 'Name')).toBe(name);
  expect(name.selectionStart).toBe(3);
});

it('shows hostile names as text', () => {
  const usual = markupOf(
    designer({ ...clusterOf(['a', 'b']), name: 'c' }).root
  );

  for (const text of HOSTILE) {
    const { root } = designer({ ...clusterOf([text, text]), name: text });
    expect([...markupOf(root)].filter(name => !usual.has(name))).toEqual([]);
    // a field of one line cannot hold its ends
    expect(labelled(root, 'Name').value).toBe(text.replace(/[\r\n]/g, ''));
  }
});

it('goes away, also twice', () => {
  const { component, root } = designer();

  component.dispose();
  component.dispose();

  expect(root.childElementCount).toBe(0);
});

it('shows what Python says of a type beside the type', () => {
  const { component, root } = designer(clusterOf(['a', 'ml.p3.3xlarge']));

  component.update({
    problems: ["Instance type 'ml.p3.3xlarge' is not one of the 145 types."]
  });

  expect(description(labelled(root, 'Instance type'))).toContain(
    'is not one of the 145 types.'
  );
});
