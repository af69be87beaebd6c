import { plainText, readWire } from '@smtc-lab/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { duration, intervalWords } from '../src/monitor/words.js';
import { evidenceWords, stepWords } from '../src/run/words.js';
import wire from '../../../tests/fixtures/run_info.json';
import { buttonIn, FakeModel, HOST, shownIn, STEPS } from './fake_model.js';
import { HOSTILE, markupOf } from './hostile.js';
import { charts, shades } from './no_chart.js';

const NO_LOG = { lines: [], unfinished: [], leftOut: 0, silent: [] };

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));
vi.mock('../src/charts/heat_map.js', async () => await import('./no_chart.js'));

describe('the run monitor', () => {
  let model: FakeModel;
  let el: HTMLElement;
  let dispose: () => void;

  beforeEach(() => {
    vi.useFakeTimers();
    model = new FakeModel({
      info: { ...wire, state: 'InProgress', ended: false, reason: '' },
      log: NO_LOG,
      beat: { number: 1, elapsed_s: 3 },
      stop_problem: ''
    });
    el = document.createElement('div');
    dispose = shownIn(el, model, 'run-monitor');
  });

  afterEach(() => {
    dispose();
    vi.useRealTimers();
  });

  const button = (words: string): HTMLButtonElement => buttonIn(el, words);

  it('names the Python environment where it is not the one that launched', () => {
    expect(el.textContent).not.toContain('Python environment');

    model.change({ python_environment: 'torch-2.9' });

    expect(el.querySelector('.smtc-facts')?.textContent).toContain(
      'Python environmenttorch-2.9'
    );
  });

  it('asks for the rows that came before it', () => {
    expect(model.sent).toEqual([{ type: 'resync' }]);
  });

  it('shows name, state, price and what the numbers are', () => {
    expect(el.querySelector('h3')?.textContent).toBe('train-r1');
    expect(el.querySelector('.smtc-badge')?.textContent).toBe('Running');
    expect(el.textContent).toContain('$3.60/h');
    expect(el.textContent).toContain('emulated');
    expect(el.textContent).toContain('1 s of it took 20 s here');
  });

  it('tells what SageMaker tells of a run in progress', () => {
    const badge = (): string | undefined =>
      el.querySelector('.smtc-badge')?.textContent;

    model.change({ secondary: 'Interrupted', reason: 'A market took it.' });

    expect(badge()).toBe('Interrupted');
    expect(el.querySelector('.smtc-state-interrupted')).not.toBeNull();
    expect(el.textContent).toContain('A market took it.');

    model.change({ secondary: 'Downloading' });
    expect(badge()).toBe('Downloading');
    model.change({ secondary: 'Training' });
    expect(badge()).toBe('Running');
    model.change({ state: 'Stopped', secondary: 'MaxWaitTimeExceeded' });
    expect(badge()).toBe('Stopped');
  });

  it('takes the instances away at one press, once, and asks nobody', () => {
    document.body.append(el);
    const said = (): string | null | undefined =>
      button('Interrupt now').parentElement?.textContent;
    expect(button('Interrupt now').parentElement?.hidden).toBe(true);

    model.change({ can_interrupt: true, attempts: 1 });
    button('Interrupt now').focus();
    button('Interrupt now').click();
    button('Interrupt now').click();

    expect(model.sent.slice(1)).toEqual([{ type: 'interrupt' }]);
    expect(button('Interrupt now').ariaDisabled).toBe('true');
    expect(said()).toBe('Interrupt nowInterrupting …');

    model.change({
      can_interrupt: true,
      attempts: 1,
      secondary: 'Interrupted'
    });
    expect(button('Interrupt now').ariaDisabled).toBe('true');
    expect(said()).toBe('Interrupt now');

    model.change({ can_interrupt: true, attempts: 2, secondary: 'Training' });
    expect(button('Interrupt now').ariaDisabled).toBe('false');
    expect(document.activeElement).toBe(button('Interrupt now'));

    model.change({ can_interrupt: true, attempts: 2, state: 'Stopping' });
    expect(button('Interrupt now').ariaDisabled).toBe('true');
    el.remove();
  });

  it('says why a run could not be interrupted, and can be asked again', () => {
    model.change({ can_interrupt: true, attempts: 1 });
    button('Interrupt now').click();
    model.set('interrupt_problem', '');
    expect(button('Interrupt now').ariaDisabled).toBe('true');

    model.set('interrupt_problem', 'The run could not be interrupted: gone.');

    expect(el.textContent).toContain('could not be interrupted: gone.');
    button('Interrupt now').click();
    expect(model.sent.slice(1)).toHaveLength(2);
    expect(el.textContent).not.toContain('could not be interrupted');
  });

  it('shows an interruption with its price in charts and bill', () => {
    model.rows('steps', STEPS, [0, 1, 0.2, 0.1, NaN, NaN]);
    const one = {
      from_s: 4,
      gone_s: 6,
      back_s: 46,
      until_s: 50,
      step: 20,
      waited_s: 40,
      lost_s: 6,
      lost_usd: 0.01,
      reason: ''
    };
    const bill = { num_interruptions: 1, interruptions_s: 6, waited_s: 40 };
    const spot = {
      training_s: 500,
      billable_s: 100,
      savings_fraction: 0.8,
      told_by: 'platform'
    };

    model.change({
      evidence: 'measured',
      interruptions: [one],
      bill: { ...wire.bill, ...bill, interruptions_usd: 0.01 },
      spot
    });

    const label = 'interrupted: 40 s waiting (not billed), 6 s lost, $0.01';
    expect(shades.get('Step time')).toContainEqual({
      label,
      short: 'interrupted, $0.01',
      from: 19.5,
      to: 19.5
    });
    expect(charts.get('Cost so far')?.[0]?.less).toEqual([
      { from: 20, by: 40 }
    ]);
    const told = el.querySelector('.smtc-run-numbers')?.textContent;
    expect(told).toContain('lost by interruptions6 s $0.01, interruptions: 1');
    expect(told).toContain('waited40 s without instances, not billed');
    expect(told).toContain(
      'Managed spot training savings80 % 100 s billable of 500 s of training'
    );
  });

  it('has a row for each of several trainers, with bars on one scale', () => {
    expect(el.querySelector('.smtc-ranks')).toBeNull();
    const rank = {
      host: 'algo-1',
      step_time_s: 0.2,
      data_wait_s: 0.02,
      exposed_comm_s: 0.01,
      rank_wait_s: 0.05
    };
    const ranks = [
      { ...rank, rank: 0 },
      { ...rank, rank: 1, step_time_s: 0.1, rank_wait_s: 0 }
    ];

    model.change({ summary: { ...wire.summary, ranks } });

    const rows = [...el.querySelectorAll('.smtc-ranks tbody tr')];
    expect(rows.map(row => row.querySelector('th')?.textContent)).toEqual([
      'rank 0, algo-1',
      'rank 1, algo-1'
    ]);
    expect(rows[0]?.textContent).toContain('50 ms');
    const widths = rows.map(row =>
      [...row.querySelectorAll('i')].map(part => [
        part.className,
        Math.round(parseFloat(part.style.width))
      ])
    );
    expect(widths[0]).toEqual([
      ['smtc-rank-data', 10],
      ['smtc-rank-busy', 60],
      ['smtc-rank-wait', 25],
      ['smtc-rank-comm', 5]
    ]);
    expect(widths[1]).toEqual([
      ['smtc-rank-data', 10],
      ['smtc-rank-busy', 35],
      ['smtc-rank-comm', 5]
    ]);
  });

  it('leaves out what trainers do not tell of their communication', () => {
    const rank = {
      host: 'algo-1',
      step_time_s: 0.2,
      data_wait_s: 0.02,
      exposed_comm_s: null,
      rank_wait_s: null
    };

    model.change({
      summary: {
        ...wire.summary,
        ranks: [
          { ...rank, rank: 0 },
          { ...rank, rank: 1 }
        ]
      }
    });

    const text = el.querySelector('.smtc-ranks thead')?.textContent;
    expect(text).toBe('trainerstepwaits for data');
  });

  it('tells where the time went, and prices cluster time alone', () => {
    const facts = [...el.querySelectorAll('.smtc-run-numbers .smtc-facts div')];
    const told = facts
      .map(fact => fact.textContent)
      .filter(words => /^(start-up|all steps|end)/.test(words));

    expect(told).toEqual([
      "start-up2 s this machine's own seconds, not cluster time: no price",
      'all steps9.5 s $0.0095, warm-up included',
      "end500 ms this machine's own seconds, not cluster time: no price"
    ]);

    model.change({ bill: null });
    expect(el.textContent).not.toContain('start-up');
  });

  it('says that it is starting while there is no step', () => {
    model.change({ summary: null, steps: 0 });
    expect(el.textContent).toContain('Starting: the instances are up');

    model.change({ summary: null, steps: null });
    expect(el.textContent).toContain('Reading what the run has recorded');
  });

  it('draws charts once rows come, each marked with its evidence', () => {
    model.rows('steps', STEPS, [0, 1, 0.2, 0.1, NaN, NaN]);

    expect([...charts.keys()]).toEqual([
      'Step time',
      'Data wait',
      'Cost of 1,000 steps'
    ]);
    expect(charts.get('Step time')?.[0]?.evidence).toBe('emulated');
    expect(charts.get('Cost of 1,000 steps')?.[0]?.factor).toBeCloseTo(1);
    expect(el.textContent).toContain('cost so far$0.0095 its steps alone');
  });

  it('says of money whether it is billed, and marks it while it is', () => {
    const marked = (): unknown => el.querySelector('.is-billed')?.textContent;

    expect(el.textContent).toContain('$3.60/h; nothing is billed');
    expect(marked()).toBeUndefined();

    model.change({ is_billed: true });
    expect(marked()).toContain('billed until it ends or is stopped');

    model.change({ is_billed: true, ended: true });
    expect(marked()).toBeUndefined();
    expect(el.textContent).not.toContain('is billed');
  });

  it('adds start-up to the cost of steps where both were measured', () => {
    model.change({ evidence: 'measured' });
    model.rows('steps', STEPS, [0, 1, 0.2, 0.1, NaN, NaN]);

    expect(charts.has('Cost so far')).toBe(true);
    expect(el.textContent).toContain('cost so far$0.193 at $3.60/h');
  });

  it('draws what was predicted behind the step times, also when it comes late', () => {
    model.rows('steps', STEPS, [0, 1, 0.2, 0.1, NaN, NaN]);
    expect(charts.get('Step time')).toHaveLength(1);

    const predicted = { mean: 0.2, low: 0.18, high: 0.22 };
    model.change({ predicted_step_time_s: predicted, steps: 40 });
    model.change({ steps: 60 });

    const line = charts.get('Step time')?.[1];
    expect(line?.evidence).toBe('predicted');
    expect([...(line?.table.column('step') ?? [])]).toEqual([0, 60]);
    expect([...(line?.table.column('low') ?? [])]).toEqual([0.18, 0.18]);
  });

  it('shows no cost where a price is unknown, and says so', () => {
    model.change({ usd_per_hour: null, is_billed: true });
    model.rows('steps', STEPS, [0, 1, 0.2, 0.1, NaN, NaN]);

    expect(charts.has('Cost so far')).toBe(false);
    expect(el.textContent).toContain('a price is unknown');
    expect(el.textContent).toContain('unknown a price is unknown');
  });

  it('says that a run on this machine costs nothing', () => {
    model.change({ usd_per_hour: null, is_billed: false });

    expect(el.textContent).toContain('none nothing is billed');
    expect(el.textContent).not.toContain('unknown a price');
  });

  it('draws lines for each instance, and for what each receives and sends', () => {
    model.rows('system:algo-1', HOST, [1, 0.5, 1e9, 10, 10, NaN]);
    model.rows('system:algo-2', HOST, [1, 0.9, 1e9, 10, 10, NaN]);

    expect(charts.get('CPU')?.map(series => series.label)).toEqual([
      'dnn_group',
      'data_group'
    ]);
    for (const title of ['Network: received', 'Network: sent']) {
      const lines = charts.get(title) ?? [];
      expect(lines.map(series => series.label)).toEqual([
        'dnn_group',
        'data_group'
      ]);
      expect(new Set(lines.map(series => series.color)).size).toBe(2);
    }
    expect(charts.has('Device')).toBe(false);
  });

  it('draws no network where the machine does not tell the traffic of a run', () => {
    model.rows('system:algo-1', HOST, [1, 0.5, 1e9, NaN, NaN, NaN]);

    expect(charts.has('CPU')).toBe(true);
    expect(charts.has('Network: sent')).toBe(false);
  });

  it('changes lines for a heat map and back', () => {
    model.rows('system:algo-1', HOST, [1, 0.5, 1e9, 10, 10, NaN]);
    const hidden = (): boolean[] =>
      [...el.querySelectorAll('figure')].map(figure => figure.hidden);
    const before = hidden();

    button('Heat map').click();

    expect(button('Heat map').getAttribute('aria-pressed')).toBe('true');
    expect(hidden()).not.toEqual(before);
    button('Heat map').click();
    expect(hidden()).toEqual(before);
  });

  it('stops after a second question only', () => {
    button('Stop').click();
    expect(model.sent).not.toContainEqual({ type: 'stop' });
    expect(document.activeElement).toBe(button('Stop it'));

    button('Stop it').click();

    expect(model.sent).toContainEqual({ type: 'stop' });
    expect(el.textContent).toContain('Stopping …');
    expect(button('Stop').disabled).toBe(true);
  });

  it('lets go of the question with Escape', () => {
    button('Stop').click();
    button('Stop it').dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
    );

    expect(document.activeElement).toBe(button('Stop'));
    expect(model.sent).not.toContainEqual({ type: 'stop' });
  });

  it('says why a stop has no effect yet, or failed', () => {
    button('Stop').click();
    button('Stop it').click();
    vi.advanceTimersByTime(5000);
    expect(el.textContent).toContain('The stop was not taken yet');

    model.set('stop_problem', 'The run could not be stopped: no right.');
    expect(el.textContent).toContain('The run could not be stopped: no right.');
    expect(button('Stop').disabled).toBe(false);
  });

  it('has nothing to stop once the run has ended', () => {
    model.change({ state: 'Failed', ended: true, reason: 'It broke.' });

    expect(el.querySelector<HTMLElement>('.smtc-stop')?.hidden).toBe(true);
    expect(el.querySelector('.smtc-problem')?.textContent).toBe(
      'It broke.\nThe log tells more; run.logs() returns all of it.'
    );
  });

  it('says after a while that no news comes, and how to go on', () => {
    vi.advanceTimersByTime(5000);
    expect(el.textContent).not.toContain('No news');

    vi.advanceTimersByTime(3000);
    expect(el.textContent).toContain('No news for 8 s');
    expect(el.textContent).toContain('lab.Run.open("train-r1")');

    model.set('beat', { number: 2, elapsed_s: 11 });
    expect(
      el.querySelector<HTMLElement>('.smtc-monitor-head .smtc-warning')?.hidden
    ).toBe(true);
  });

  it('does not say what it does not know once no news come', () => {
    model.set('beat', { number: 2, elapsed_s: 60 });
    expect(el.querySelector('.smtc-badge')?.textContent).toBe('Running');

    vi.advanceTimersByTime(60_000);

    expect(el.querySelector('.smtc-badge')?.textContent).toBe('Unknown');
    expect(el.querySelector<HTMLElement>('.smtc-stop')?.hidden).toBe(true);
    expect(el.textContent).toContain('elapsed1 min');
    expect(el.textContent).not.toContain('2 min');
    model.set('beat', { number: 3, elapsed_s: 121 });
    expect(el.querySelector('.smtc-badge')?.textContent).toBe('Running');
    expect(el.querySelector<HTMLElement>('.smtc-stop')?.hidden).toBe(false);
    expect(el.querySelector('.smtc-stale')).toBeNull();
  });

  it('counts the seconds between two signs of life', () => {
    model.set('beat', { number: 2, elapsed_s: 61 });
    vi.advanceTimersByTime(2000);

    expect(el.textContent).toContain('1 min 03 s');
  });

  it('shows the log of one instance, and holds it still', () => {
    const lines = [
      ['algo-1', 'one'],
      ['algo-2', 'two']
    ];
    model.set('log', { ...NO_LOG, lines });
    const log = el.querySelector('pre');
    expect(log?.textContent).toBe('algo-1 │ one\nalgo-2 │ two\n');

    const select = el.querySelector('.smtc-log select') as HTMLSelectElement;
    select.value = 'algo-2';
    select.dispatchEvent(new Event('change'));
    expect(log?.textContent).toBe('algo-2 │ two\n');

    button('Follow').click();
    model.set('log', { ...NO_LOG, lines: [...lines, ['algo-2', 'three']] });
    expect(log?.textContent).toBe('algo-2 │ two\n');
    button('Follow').click();
    expect(log?.textContent).toBe('algo-2 │ two\nalgo-2 │ three\n');
  });

  it('offers who printed nothing, and says so', () => {
    const silent = ['algo-1-rank2'];
    const lines = [['algo-1-rank1', 'one']];
    model.set('log', { ...NO_LOG, lines, silent });
    const select = el.querySelector('.smtc-log select') as HTMLSelectElement;
    const shownOf = (host: string): string | null | undefined => {
      select.value = host;
      select.dispatchEvent(new Event('change'));
      return el.querySelector('pre')?.textContent;
    };

    expect([...select.options].map(({ value }) => value)).toEqual([
      '',
      'algo-1-rank1',
      ...silent
    ]);
    expect(shownOf('algo-1-rank2')).toBe('Nothing was printed.');
  });

  it('finds lines, and marks what was looked for', () => {
    const lines = [
      ['algo-1', 'loss 0.5, LOSS of epoch 1'],
      ['algo-1', 'saved']
    ];
    const unfinished = [['algo-1', 'loss …: 10 %']];
    model.set('log', { ...NO_LOG, lines, unfinished, leftOut: 1000 });
    const said = el.querySelector('.smtc-log p');
    expect(said?.textContent).toBe('The last 3 lines.');

    const search = el.querySelector('.smtc-log input') as HTMLInputElement;
    search.value = ' Loss ';
    search.dispatchEvent(new Event('input'));
    const log = el.querySelector('pre') as HTMLElement;
    expect(log.textContent).toBe(
      'algo-1 │ loss 0.5, LOSS of epoch 1\nalgo-1 │ loss …: 10 %\n'
    );
    expect(
      [...log.querySelectorAll('mark')].map(one => one.textContent)
    ).toEqual(['loss', 'LOSS', 'loss']);
    expect(said?.textContent).toBe('2 of the last 3 lines.');

    model.set('log', { ...NO_LOG, lines, unfinished: [] });
    expect(said?.textContent).toBe('1 of the last 2 lines.');
  });

  it('never makes markup of what it is told', () => {
    const tell = (text: string): void => {
      model.change({
        job_name: text,
        reason: text,
        problem: text,
        entry_point: text,
        events: [{ time_s: 1, kind: text, host: text, message: text }],
        findings: [
          { severity: 'warning', sentence: text, fix: text, action: text }
        ],
        compiler: { backend: text, words: [text] },
        price_notes: [text]
      });
      model.set('log', { ...NO_LOG, lines: [[text, text]] });
    };
    tell('plain');
    const usual = markupOf(el);
    tell('a long one '.repeat(100));
    markupOf(el).forEach(name => usual.add(name));

    for (const text of HOSTILE) {
      tell(text);
      expect([...markupOf(el)].filter(name => !usual.has(name))).toEqual([]);
      expect(el.textContent).toContain(plainText(text));
    }
  }, 30_000);

  it('lets go of everything', () => {
    vi.advanceTimersByTime(1000); // the browser's own, which tell what was unfolded
    dispose();

    expect(el.childElementCount).toBe(0);
    expect(model.numCallbacks).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    dispose();
  });
});

describe('words', () => {
  it('tell how long something lasts', () => {
    expect([0.9, 59.9, 60, 3725].map(duration)).toEqual([
      '0 s',
      '59 s',
      '1 min 00 s',
      '1 h 02 min'
    ]);
  });

  it('tell steps and intervals', () => {
    expect(stepWords(1200, null)).toBe('1,200 steps');
    expect(stepWords(5, 10)).toBe('5 of 10 steps');
    const interval = readWire('Interval', { mean: 0.2, low: 0.19, high: 0.21 });

    expect(intervalWords(interval, 's')).toBe('200 ms (190 ms to 210 ms)');
  });
});

it.each([
  [true, 'on this machine'],
  [false, 'on the instances'],
  [null, 'on the instances']
])('says where it was measured: %s', (here, words) => {
  const told = { ...wire, evidence: 'measured', runs_here: here };

  expect(evidenceWords(readWire('RunInfo', told))).toBe(words);
});
