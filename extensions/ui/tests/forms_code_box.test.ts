import { afterEach, expect, it, vi } from 'vitest';
import { codeBox } from '../src/forms/code_box.js';
import { INSERT_EVENT, type IInsertDetail } from '../src/forms/insert_event.js';
import { button, host } from './forms_kit.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

function box(writeText: (text: string) => Promise<void>) {
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  const root = host();
  const component = codeBox(root, { code: 'x = 1\n' });
  const status = (): string | null | undefined =>
    root.querySelector('[role=status]')?.textContent;
  return { root, component, status };
}

it('copies the code, and says so', async () => {
  const writeText = vi.fn(() => Promise.resolve());
  const { root, status } = box(writeText);

  button(root, 'Copy').click();

  await vi.waitFor(() => {
    expect(status()).toBe('Copied.');
  });
  expect(writeText.mock.calls).toEqual([['x = 1\n']]);
});

it('selects the code where the page may not copy', async () => {
  const { root, status } = box(() => Promise.reject(new Error('denied')));

  button(root, 'Copy').click();

  await vi.waitFor(() => {
    expect(status()).toMatch(/^This page may not copy/);
  });
  expect(document.getSelection()?.toString()).toBe('x = 1\n');
});

it('asks the page to insert a cell', async () => {
  const { root, status } = box(() => Promise.resolve());
  const details: IInsertDetail[] = [];
  root.addEventListener(INSERT_EVENT, event => {
    event.preventDefault();
    details.push((event as CustomEvent<IInsertDetail>).detail);
  });

  button(root, 'Insert').click();

  await vi.waitFor(() => {
    expect(status()).toBe('Inserted.');
  });
  expect(details).toEqual([{ code: 'x = 1\n' }]);
});

it('copies instead where no page inserts cells, and says so', async () => {
  const writeText = vi.fn(() => Promise.resolve());
  const { root, status } = box(writeText);

  button(root, 'Insert').click();

  await vi.waitFor(() => {
    expect(status()).toMatch(/does not let a widget insert cells/);
  });
  expect(writeText).toHaveBeenCalledOnce();
});

it('shows new code as text', () => {
  const { component, root } = box(() => Promise.resolve());

  component.update({ code: '"<script>"' });

  expect(root.querySelector('pre')?.textContent).toBe('"<script>"');
});
