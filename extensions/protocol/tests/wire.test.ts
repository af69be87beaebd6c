// @vitest-environment node
import { describe, expect, it } from 'vitest';
import comparison from '../../../tests/fixtures/comparison_info.json';
import plan from '../../../tests/fixtures/plan_info.json';
import fixture from '../../../tests/fixtures/run_info.json';
import schema from '../schema/wire.json';
import { readWire, WIRE, type IWire } from '../src/index.js';

// without types of their own: names in variables keep the type checker from looking for them
const MAKER = '../wire_types.mjs';
const TYPES = '../src/generated/wire.ts?raw';

it('has types that were made from the schema', async () => {
  const { wireTypes } = (await import(MAKER)) as {
    wireTypes: (json: unknown) => string;
  };
  const types = (await import(TYPES)) as { default: string };

  expect(types.default, 'run node protocol/make_types.mjs').toBe(
    wireTypes(schema)
  );
});

describe('a run as Python tells it', () => {
  it('is read with its units', () => {
    const run = readWire('RunInfo', fixture);

    expect(run.jobName).toBe('train-r1');
    expect(run.evidence).toBe('emulated');
    expect(run.groups.map(group => group.role)).toEqual(['train', 'data']);
    expect(run.summary?.warmUpSteps).toBeGreaterThan(0);
    expect(run.summary?.cpu.get('data_group')).toBeCloseTo(0.8);
    expect(run.usdPerHour).toBe(3.6);
    expect(run.events.map(event => event.host)).toEqual(['algo-2', '']);
  });

  it('may know nothing yet', () => {
    const run = readWire('RunInfo', {
      ...fixture,
      elapsed_s: null,
      max_steps: null,
      usd_per_hour: null,
      usd_so_far: null,
      summary: null
    });

    expect(run.summary).toBeNull();
    expect(run.usdPerHour).toBeNull();
  });

  it('that was saved before environments had names ran in the one that launched', () => {
    const { python_environment: named, ...older } = fixture;

    expect(named).toBe('');
    expect(readWire('RunInfo', older).pythonEnvironment).toBe('');
  });

  it('is refused with the field and its value', () => {
    expect(() => readWire('RunInfo', { ...fixture, steps: '7' })).toThrow(
      /steps="7".*finite number/
    );
    expect(() =>
      readWire('RunInfo', { ...fixture, evidence: 'guessed' })
    ).toThrow(/evidence="guessed".*measured, emulated/);
  });

  it('is refused in another version', () => {
    expect(() => readWire('RunInfo', { ...fixture, version: 2 })).toThrow(
      /version=2.*reads 1/
    );
  });
});

describe('its log and its sign of life', () => {
  it('are read', () => {
    expect(
      readWire('LogInfo', {
        lines: [['algo-1', '<b>']],
        silent: [],
        unfinished: [],
        leftOut: 0
      }).lines
    ).toEqual([['algo-1', '<b>']]);
    expect(
      readWire('BeatInfo', { number: 4, elapsed_s: null }).elapsedS
    ).toBeNull();
  });

  it('are refused when they are torn', () => {
    expect(() =>
      readWire('LogInfo', {
        lines: ['x'],
        unfinished: [],
        leftOut: 0,
        silent: []
      })
    ).toThrow(/lines\[0\]="x", but needs a list/);
    expect(() => readWire('BeatInfo', { number: 4 })).toThrow(
      /elapsed_s=undefined/
    );
  });
});

describe('an interval', () => {
  it('says its level and its evidence', () => {
    const { summary } = readWire('RunInfo', fixture);

    expect(summary?.stepTimeS).toMatchObject({
      level: 0.95,
      evidence: 'emulated'
    });
  });

  it('that an older version wrote has the level of its place', () => {
    const [older] = plan.points.map(
      ({ step_time_s: { value, low, high } }) => ({
        value,
        low,
        high
      })
    );
    const { stepTimeS } = readWire('PointInfo', {
      ...plan.points[0],
      step_time_s: older
    });
    const run = readWire('RunInfo', {
      ...fixture,
      predicted_step_time_s: { mean: 2, low: 1, high: 3 }
    });

    expect(stepTimeS).toMatchObject({ level: 0.8, evidence: 'predicted' });
    expect(run.predictedStepTimeS).toEqual({
      mean: 2,
      low: 1,
      high: 3,
      level: 0.8,
      evidence: 'predicted'
    });
  });
});

describe.each([
  ['RunInfo', fixture],
  ['ComparisonInfo', comparison],
  ['PlanInfo', plan]
] as const)('%s from who knows where', (kind, told: object) => {
  const names = Object.entries(WIRE[kind].properties ?? {});

  it.each(names.filter(([, part]) => !('default' in part)))(
    'is refused without %s',
    name => {
      const rest = Object.entries(told).filter(([each]) => each !== name);

      expect(() => readWire(kind, Object.fromEntries(rest))).toThrow(
        new RegExp(`${kind}.${name}.*must be|${kind}.${name}=undefined`)
      );
    }
  );

  it.each(names)('is refused with a function of %s', name => {
    const torn = { ...told, [name]: () => 'x' };

    expect(() => readWire(kind, torn)).toThrow(`${kind}.${name}`);
  });

  it.each([null, [], 'x', 7, undefined])('is not %j', value => {
    expect(() => readWire(kind, value)).toThrow(/must be an object.*Rebuild/);
  });
});

it('keeps names of users apart from its own', () => {
  const hostile = JSON.parse(
    '{"__proto__":{"polluted":1},"to_string":0.5}'
  ) as unknown;
  const { summary } = readWire('RunInfo', {
    ...fixture,
    summary: { ...fixture.summary, cpu: { ok: 0.5 } }
  });

  expect([...(summary?.cpu ?? [])]).toEqual([['ok', 0.5]]);
  expect(() =>
    readWire('RunInfo', {
      ...fixture,
      summary: { ...fixture.summary, cpu: hostile }
    })
  ).toThrow(/cpu\.__proto__=\{"polluted":1\}.*finite number/);
});

it('leaves out what no type has, and what an older version could not write', () => {
  const row: IWire['CurveInfo'] = readWire('CurveInfo', {
    columns: ['x'],
    num_rows: 1,
    width: 1,
    mean: [[1]],
    other: '<b>'
  });

  expect(Object.keys(row)).toEqual(['columns', 'numRows', 'width', 'mean']);
});

it('shows no more of a value than a sentence holds', () => {
  const long = 'x'.repeat(100_000);

  expect(() => readWire('RunInfo', { ...fixture, steps: long })).toThrow(
    /^A message has RunInfo.steps="x{79}, but needs a finite number\. Rebuild/
  );
});
