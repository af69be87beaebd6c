import { describe, expect, it } from 'vitest';
import { parseBeat, parseLog, parseRunInfo } from '@smtc-lab/protocol';
import fixture from '../../../tests/fixtures/run_info.json';

describe('a run as Python tells it', () => {
  it('is read with its units', () => {
    const run = parseRunInfo(fixture);

    expect(run.jobName).toBe('train-r1');
    expect(run.evidence).toBe('emulated');
    expect(run.groups.map(group => group.role)).toEqual(['train', 'data']);
    expect(run.summary?.warmUpSteps).toBeGreaterThan(0);
    expect(run.summary?.cpu.get('data_group')).toBeCloseTo(0.8);
    expect(run.usdPerHour).toBe(3.6);
    expect(run.events.map(event => event.host)).toEqual(['algo-2', '']);
  });

  it('may know nothing yet', () => {
    const run = parseRunInfo({
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
    expect(parseRunInfo(older).pythonEnvironment).toBe('');
  });

  it('is refused with the field and its value', () => {
    expect(() => parseRunInfo({ ...fixture, steps: '7' })).toThrow(
      /steps="7".*finite number/
    );
    expect(() => parseRunInfo({ ...fixture, evidence: 'guessed' })).toThrow(
      /evidence="guessed".*measured, emulated/
    );
  });

  it('is refused in another version', () => {
    expect(() => parseRunInfo({ ...fixture, version: 2 })).toThrow(
      /version 2.*reads 1/
    );
  });
});

describe('its log and its sign of life', () => {
  it('are read', () => {
    expect(parseLog({ first: 3, lines: [['algo-1', '<b>']] }).lines).toEqual([
      { host: 'algo-1', text: '<b>' }
    ]);
    expect(parseBeat({ number: 4, elapsed_s: null }).elapsedS).toBeNull();
  });

  it('are refused when they are torn', () => {
    expect(() => parseLog({ first: 0, lines: ['x'] })).toThrow(/needs text/);
    expect(() => parseBeat({ number: 4 })).toThrow(/elapsed_s=undefined/);
  });
});
