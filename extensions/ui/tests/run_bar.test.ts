import { expect, it } from 'vitest';
import forecast from '../../../tests/fixtures/forecast.json';
import { RunBar } from '../src/workbench/run_bar.js';
import { SetUps } from '../src/workbench/set_ups.js';
import { catalogJson, FakeModel } from './forms_kit.js';

function told(more: object): string {
  const model = new FakeModel({
    value: [],
    problems: [],
    catalog: catalogJson,
    rounds: 3,
    info: {},
    start_problem: '',
    forecast: { ...forecast, ...more }
  });
  const bar = new RunBar(model, new SetUps(model));
  return bar.element.querySelector('span[role=status]')?.textContent ?? '';
}

const [alone] = forecast.set_ups;

it('says before Run what is billed, how long it takes and what it would cost', () => {
  const known = { comparison_s: 90, comparison_usd: 0.12 };

  expect(told({})).toBe('Runs on this machine: nothing is billed.');
  expect(told({ ...known, set_ups: [{ ...alone, is_emulated: true }] })).toBe(
    'About 90 s on this machine: nothing is billed. On the instances that are named, its steps would cost about $0.12.'
  );
  expect(told({ ...known, set_ups: [{ ...alone, is_emulated: false }] })).toBe(
    'About 90 s on this machine: nothing is billed. On the instances that are named, it would cost about $0.12.'
  );
});
