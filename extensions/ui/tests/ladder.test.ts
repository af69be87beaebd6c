import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  COMPILER_DEFAULTS,
  parseCompilerLadders,
  type ISetUpLadder
} from '@smtc-lab/protocol';
import wire from '../../../tests/fixtures/compiler_ladders.json';
import { LadderAsker, laddersOf } from '../src/ladder/asker.js';
import { CompilerLadder } from '../src/ladder/ladder.js';
import { paysOf } from '../src/ladder/pays.js';
import { ForeseenFigures } from '../src/workbench/foreseen_figures.js';
import { FakeModel } from './fake_model.js';

const [KNOWN, NONE, WRONG] = parseCompilerLadders(wire).setUps as [
  ISetUpLadder,
  ISetUpLadder,
  ISetUpLadder
];

function shown(ladder: ISetUpLadder | undefined, problem = ''): HTMLElement {
  const made = new CompilerLadder();
  made.show({ ladder, problem, config: COMPILER_DEFAULTS });
  return made.element;
}

describe('the ladder of compiler settings', () => {
  it('has a rung for each of five settings, measured or not', () => {
    const rungs = [...shown(KNOWN).querySelectorAll('li')].map(
      item => item.textContent
    );

    expect(rungs).toHaveLength(5);
    expect(rungs[0]).toContain('Compiler auto');
    expect(rungs[0]).toContain('eager → inductor');
    expect(rungs[0]).toContain(
      'steps take 9.5 % less (8.1 % – 10.8 %), first steps 7.7 s longer (7.1 s – 8.3 s)'
    );
    expect(rungs[0]).toContain('steps take 82 % longer (75 % – 90 %)');
    expect(rungs[1]).toBe('Precision highestnot measured');
    expect(rungs[3]).toContain('no difference seen');
  });

  it('says once where all that is from', () => {
    const sources = [...shown(KNOWN).querySelectorAll('p')];

    expect(sources.map(each => each.textContent)).toEqual([
      'Measured 2026-11-03 in train-comparison-4x3 on 1 × local.'
    ]);
  });

  it('draws bars that a screen reader passes over', () => {
    const bars = [...shown(KNOWN).querySelectorAll('svg')];

    expect(bars).toHaveLength(4);
    expect(bars.map(bar => bar.getAttribute('aria-hidden'))).toEqual(
      bars.map(() => 'true')
    );
    expect(bars[3]?.querySelector('.smtc-unseen')).not.toBeNull();
  });

  it('says what to run where nothing was measured', () => {
    expect(shown(NONE).textContent).toContain('--ablation');
    expect(shown(NONE).querySelectorAll('li')).toHaveLength(5);
  });

  it('says that it is looking, and why nothing came', () => {
    expect(shown(undefined).textContent).toContain('Looking for');
    expect(shown(WRONG).textContent).toContain('Mend what is wrong');
    expect(shown(undefined, 'No server.').textContent).toContain('No server.');
  });
});

describe('where the compiler pays', () => {
  const told = (ladder: ISetUpLadder, steps: number | null): string =>
    paysOf(ladder, steps)
      .map(each => each.textContent)
      .join('');

  it('is said with its interval', () => {
    expect(told(KNOWN, 1000)).toContain(
      'The compiler pays from step 168 (154–176) on, after 33.7 s (31.2 s–35.6 s).'
    );
    expect(told(KNOWN, 1000)).not.toContain('ends before');
  });

  it('says that a job is too short for it', () => {
    expect(told(KNOWN, 100)).toContain(
      'This job ends before that, at step 100.'
    );
  });

  it('says never, and why', () => {
    const pays = KNOWN.pays === null ? null : { ...KNOWN.pays, steps: null };

    expect(told({ ...KNOWN, pays }, null)).toContain('no gain was seen');
  });

  it('is nothing where these settings were not measured', () => {
    expect(paysOf(NONE, 10)).toEqual([]);
    expect(paysOf(undefined, 10)).toEqual([]);
  });
});

it('is not pale where nothing is predicted', () => {
  const figures = new ForeseenFigures();
  figures.show(
    {
      foreseen: undefined,
      first: undefined,
      most: { stepTimeS: 1, usdPer1000Steps: 1 },
      isStale: true,
      measured: { ladder: KNOWN, problem: '' },
      jobSteps: null
    },
    0
  );

  expect(figures.element.textContent).toContain('pays from step 168');
  expect(figures.element.classList.contains('smtc-stale')).toBe(false);
});

describe('what is asked about the ladder', () => {
  const JOB = {
    entry_point: 'a.py',
    hyperparameters: {},
    arguments: [],
    compiler_config: null,
    max_steps: 5
  };

  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('is asked once for one workload, and again for another', () => {
    const model = new FakeModel({ value: [JOB], result: '' });
    const asker = new LadderAsker(model);
    const ask = (): number => {
      asker.ask();
      vi.runAllTimers();
      return model.sent.length;
    };

    expect(ask()).toBe(1);
    model.set('value', [{ ...JOB, max_steps: 6 }]);
    expect(ask()).toBe(1);
    model.set('value', [{ ...JOB, entry_point: 'b.py' }]);
    expect(ask()).toBe(2);
    model.set('result', 'done');
    expect(ask()).toBe(3);
  });

  it('is not shown for a script that it is not of', () => {
    const of = JSON.stringify([JOB]);
    const model = new FakeModel({
      value: [{ ...JOB, max_steps: 7 }],
      compiler_ladders: { ...wire, of }
    });

    expect(laddersOf(model).setUps).toHaveLength(3);
    model.set('value', [{ ...JOB, hyperparameters: { width: 2 } }]);
    expect(laddersOf(model).setUps).toEqual([]);
  });
});
