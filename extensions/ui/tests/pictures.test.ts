import { readWire, type IForetold, type ISetUpInfo } from '@smtc-lab/protocol';
import { expect, it } from 'vitest';
import wire from '../../../tests/fixtures/comparison_info.json';
import { pictures } from '../src/study/pictures.js';

const INFO = readWire('ComparisonInfo', wire);
const NONE = readWire('Interval', { mean: 0, low: 0, high: 0 });

it('fill a set-up that has run, and leave one that has not empty', () => {
  const part = pictures();

  part.update(INFO);

  const [ran, waits] = part.element.querySelectorAll('figure');
  expect(ran?.querySelectorAll('.smtc-busy').length).toBeGreaterThan(0);
  expect(ran?.textContent).toContain('homogeneous so far');
  expect(ran?.textContent).toContain('200 ms');
  expect(waits?.querySelector('.smtc-busy, .smtc-flow')).toBeNull();
  expect(waits?.textContent).toContain('warming up');
});

it('show what was predicted below what is measured, and before it', () => {
  const part = pictures();
  const [first, second] = INFO.setUps;
  const later = { ...second, foretold: first?.foretold } as typeof first;

  part.update({ ...INFO, setUps: [first, later] as typeof INFO.setUps });

  const [ran, waits] = part.element.querySelectorAll('figure');
  expect(ran?.querySelector('.smtc-level')).not.toBeNull();
  expect(ran?.textContent).toContain('step time, measured200 ms');
  expect(ran?.textContent).toContain('as predicted: 170 ms–210 ms');
  expect(waits?.querySelector('.smtc-pale')).not.toBeNull();
  expect(waits?.querySelector('.smtc-busy')).not.toBeNull();
  expect(waits?.textContent).toContain('step time, predicted190 ms');
});

it('say of a number whose interval is very wide that it is', () => {
  const part = pictures();
  const [first, second] = INFO.setUps as [ISetUpInfo, ISetUpInfo];
  const interval = first.stepTimeIntervalS ?? NONE;
  const foretold = first.foretold as IForetold;
  const wide = {
    ...first,
    stepTimeIntervalS: { ...interval, mean: 0.2, low: 0.05, high: 0.8 }
  };
  const unsure = {
    ...second,
    foretold: {
      ...foretold,
      stepTimeS: { ...foretold.stepTimeS, low: 0.05, high: 0.8 }
    }
  };

  part.update({ ...INFO, setUps: [wide, unsure] });

  const [ran, waits] = part.element.querySelectorAll('figure');
  expect(ran?.textContent).toContain(
    'measured≈\u00a0200 ms 50 ms–800 ms: more rounds tell more'
  );
  expect(waits?.textContent).toContain(
    'predicted≈\u00a0190 ms 50 ms–800 ms: very uncertain'
  );
});

it('say no number of a set-up that was neither predicted nor measured', () => {
  const part = pictures();

  part.update(INFO);

  const [, waits] = part.element.querySelectorAll('figure');
  expect(waits?.querySelector('.smtc-figures')).toBeNull();
});

it('stand still once it is over', () => {
  const part = pictures();

  part.update({ ...INFO, ended: true });

  expect(part.element.classList.contains('smtc-still')).toBe(true);
  expect(part.element.textContent).not.toContain('so far');
});

it('are not there for a comparison of an older version', () => {
  const part = pictures();

  part.update({
    ...INFO,
    setUps: INFO.setUps.map(setUp => ({ ...setUp, groups: [] }))
  });

  expect(part.element.childElementCount).toBe(0);
});

it.each([
  ['Failed', 0, 'not measured: its launch failed'],
  ['Stopped', 0, 'not measured: its launch was stopped'],
  ['Completed', 0, 'not measured: its launch took no step'],
  ['Pending', 0, 'starting'],
  ['InProgress', 0, 'starting'],
  ['InProgress', 1, 'warming up']
] as const)(
  'of one whose launch is %s after %d steps and was not measured',
  (state, steps, words) => {
    const part = pictures();
    const [launch] = INFO.launched;
    const own = { ...launch, setUp: 1, state, steps } as typeof launch;

    part.update({
      ...INFO,
      launched: [...INFO.launched, own] as typeof INFO.launched
    });

    const [, waits] = part.element.querySelectorAll('figure');
    expect(waits?.querySelector('figcaption')?.textContent).toContain(words);
  }
);

it('of one that was not launched say that it has not run', () => {
  const part = pictures();

  part.update({
    ...INFO,
    launched: INFO.launched.filter(({ setUp }) => setUp !== 1)
  });

  const [, waits] = part.element.querySelectorAll('figure');
  expect(waits?.textContent).toContain('has not run');
});
