import { beforeEach, expect, it } from 'vitest';
import { SetUps } from '../src/workbench/set_ups.js';
import { catalogJson, FakeModel, JOB } from './forms_kit.js';

let model: FakeModel;

function opened(undo: unknown): SetUps {
  model = new FakeModel({
    value: [JOB],
    problems: [[]],
    catalog: catalogJson,
    ...(undo === undefined ? {} : { undo })
  });
  const setUps = new SetUps(model);
  document.body.replaceChildren(setUps.element, setUps.steps);
  return setUps;
}

function step(setUps: SetUps, words: string): HTMLButtonElement {
  return [...setUps.steps.querySelectorAll('button')].find(
    each => each.textContent === words
  ) as HTMLButtonElement;
}

function steps(setUps: SetUps, count: number): void {
  for (let max = 1; max <= count; max += 1) {
    setUps.change(max % 2, job => job); // another gesture
    setUps.change(0, job => ({ ...job, maxSteps: max }));
  }
}

const maxSteps = (): unknown =>
  (model.get('value') as (typeof JOB)[])[0]?.max_steps;

beforeEach(() => {
  document.body.replaceChildren();
});

it('goes back over a reload, and forth again', () => {
  const before = opened({ past: [], future: [] });
  before.change(0, job => ({ ...job, maxSteps: 7 }));
  const [kept, value] = [model.get('undo'), model.get('value')];

  const after = opened(JSON.parse(JSON.stringify(kept)));
  model.set('value', value);
  after.update();
  step(after, 'Undo').click();

  expect(maxSteps()).toBe(10);
  step(after, 'Redo').click();
  expect(maxSteps()).toBe(7);
});

it('keeps the newest twenty steps', () => {
  const setUps = opened({ past: [], future: [] });

  steps(setUps, 30);

  const { past } = model.get('undo') as { past: unknown[] };
  expect(past).toHaveLength(20);
});

it('begins without steps where what was kept is none', () => {
  for (const wrong of [{ past: 7 }, { past: [7] }, { past: [[null]] }, 'x']) {
    expect(step(opened(wrong), 'Undo').disabled).toBe(true);
  }
});

it('tells the model of a kernel nothing of it', () => {
  const setUps = opened(undefined);

  setUps.change(0, job => ({ ...job, maxSteps: 7 }));

  expect(model.get('undo')).toBeUndefined();
});
