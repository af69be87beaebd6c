import { afterEach, expect, it, vi } from 'vitest';
import { PARTS } from '../src/load_part.js';
import { TuneBox } from '../src/tuning/tune_box.js';
import { TunePlace } from '../src/workbench/tune_place.js';
import type { IModel } from '../src/model.js';

afterEach(() => {
  delete PARTS['tuning-part'];
  document.body.replaceChildren();
});

function boxOf(onTune = vi.fn()): { box: TuneBox; onTune: typeof onTune } {
  const box = new TuneBox(onTune);
  document.body.append(box.element);
  return { box, onTune };
}

function labelled(text: string): HTMLInputElement {
  const label = [...document.querySelectorAll('label')].find(
    ({ textContent }) => textContent.startsWith(text)
  );
  return document.getElementById(label?.htmlFor ?? '') as HTMLInputElement;
}

function type(label: string, value: string): void {
  const control = labelled(label);
  control.value = value;
  control.dispatchEvent(new Event('input', { bubbles: true }));
}

function tuneButton(): HTMLButtonElement {
  return [...document.querySelectorAll('button')].at(-1) as HTMLButtonElement;
}

it('asks what was typed, once there is something to search', () => {
  const { box, onTune } = boxOf();
  expect(tuneButton().disabled).toBe(true);

  type('What is searched', ' lr=log:1e-4..1e-1\n\nkind=adam,sgd; width=8..64 ');
  expect(tuneButton().disabled).toBe(false);
  type('Trials in all', '9');
  type('Budget in USD', '2');
  labelled('The greatest value is best').checked = true;
  labelled('Strategy').value = 'Hyperband';
  tuneButton().click();

  expect(onTune).toHaveBeenCalledWith({
    metric: 'loss',
    ranges: ['lr=log:1e-4..1e-1', 'kind=adam,sgd', 'width=8..64'],
    maximize: true,
    strategy: 'Hyperband',
    trials: 9,
    budget_usd: 2
  });
  type('Trials in all', '0');
  expect(tuneButton().disabled).toBe(true);
  type('Trials in all', '5');
  box.allow(false);
  expect(tuneButton().disabled).toBe(true);
});

it('is loaded when it is unfolded, and allowed what was allowed before', async () => {
  PARTS['tuning-part'] = () => Promise.resolve({ TuneBox });
  const place = new TunePlace({} as IModel, vi.fn());
  document.body.append(place.element);
  place.allow(false);
  expect(document.querySelector('textarea')).toBeNull();

  place.element.dispatchEvent(new Event('toggle'));
  await vi.waitFor(() => {
    expect(document.querySelector('textarea')).not.toBeNull();
  });
  type('What is searched', 'lr=0..1');
  expect(tuneButton().disabled).toBe(true);
  place.allow(true);
  expect(tuneButton().disabled).toBe(false);
});

it('says why it could not be loaded, and tries again', async () => {
  PARTS['tuning-part'] = () => Promise.reject(new Error('no way there'));
  const place = new TunePlace({} as IModel, vi.fn());
  place.element.dispatchEvent(new Event('toggle'));
  await vi.waitFor(() => {
    expect(place.element.textContent).toContain('no way there');
  });
  PARTS['tuning-part'] = () => Promise.resolve({ TuneBox });
  place.element.dispatchEvent(new Event('toggle'));
  await vi.waitFor(() => {
    expect(place.element.querySelector('textarea')).not.toBeNull();
  });
});
