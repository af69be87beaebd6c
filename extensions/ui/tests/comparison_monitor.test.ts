import { plainText, ProtocolError, readWire } from '@smtc-lab/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ISeries } from '../src/charts/options.js';
import { partColor } from '../src/charts/theme.js';
import { describeStudy } from '../src/study/kind.js';
import { doneFraction, progressWords } from '../src/study/progress.js';
import fixture from '../../../tests/fixtures/comparison_info.json';
import { buttonIn, FakeModel, HOST, shownIn, STEPS } from './fake_model.js';
import { HOSTILE, markupOf } from './hostile.js';
import { charts, endLabels, shades } from './no_chart.js';

vi.mock('../src/charts/chart.js', async () => await import('./no_chart.js'));

const wire: Record<string, unknown> = fixture;

const RATIO = [
  'time_s',
  'steps',
  'mean',
  'low',
  'high',
  'cost',
  'cost_low',
  'cost_high'
];

let model: FakeModel;
let el: HTMLElement;
let dispose: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  charts.clear();
  shades.clear();
  endLabels.clear();
  model = new FakeModel({
    info: wire,
    result: '',
    beat: { number: 1, elapsed_s: 12.5 },
    stop_problem: ''
  });
  el = document.createElement('div');
  document.body.append(el);
  dispose = shownIn(el, model, 'comparison-monitor');
});

afterEach(() => {
  dispose();
  el.remove();
  vi.useRealTimers();
});

const button = (words: string): HTMLButtonElement => buttonIn(el, words);

function measured(title: string): ISeries[] {
  const series = charts.get(title) ?? [];
  return series.filter(({ evidence }) => evidence !== 'predicted');
}

/**
 * Unfold a part of the page; jsdom tells of it later than a browser does.
 */
function unfold(title: string): void {
  const found = [...el.querySelectorAll('details')].find(
    each => each.querySelector('summary')?.firstChild?.textContent === title
  );
  if (found === undefined) {
    throw new Error(`Nothing is folded under '${title}'.`);
  }
  found.open = true;
  found.dispatchEvent(new Event('toggle'));
}

function labels(title: string): string[] {
  return measured(title).map(series => series.label);
}

describe('the description of a comparison', () => {
  it('is read from what Python writes', () => {
    const info = readWire('ComparisonInfo', wire);

    expect(info.setUps[1]?.hosts[1]).toEqual(['algo-2', 'data_group']);
    expect(info.launched[2]?.setUp).toBeNull();
    expect(info.rows[1]?.cells[1]).toEqual(['4.2×', 'no difference seen']);
  });

  it('is refused with the field and the value that are wrong', () => {
    const torn = { ...wire, elapsed_s: null };

    expect(() => readWire('ComparisonInfo', torn)).toThrow(ProtocolError);
    expect(() => readWire('ComparisonInfo', torn)).toThrow(
      /elapsed_s=null.*finite/
    );
    expect(() => readWire('ComparisonInfo', { ...wire, notes: [7] })).toThrow(
      /notes\[0\]=7, but needs text/
    );
  });
});

describe('the progress', () => {
  it('counts launches, and the steps of the one that runs', () => {
    const info = readWire('ComparisonInfo', wire);
    const launched = info.launched.slice(0, 2);

    expect(progressWords({ ...info, launched })).toBe(
      'launch 2 of 8: fed <b>&</b>, round 1 of 3, step 10 of 40'
    );
    expect(doneFraction({ ...info, launched })).toBeCloseTo(1.25 / 8);
  });

  it('names a parity check, and a launch that only starts', () => {
    const info = readWire('ComparisonInfo', wire);
    const [first, second, third] = info.launched;
    const launched = [first, second, { ...third, label: 'eager, parity' }];

    expect(
      progressWords({ ...info, launched: launched as typeof info.launched })
    ).toBe('launch 3 of 8: eager, parity, starting');
  });

  it('is nothing before the first launch, and all of it at the end', () => {
    const info = readWire('ComparisonInfo', wire);
    const done = info.launched.map(launch => ({
      ...launch,
      state: 'Completed'
    }));

    expect(doneFraction({ ...info, launched: [] })).toBe(0);
    expect(doneFraction({ ...info, launches: 3, launched: done })).toBe(1);
  });

  it('says whether somebody is billed, and until when', () => {
    const info = readWire('ComparisonInfo', wire);
    const ofBilled = (isBilled: boolean | null, ended = false): string => {
      const { progress, facts } = describeStudy(
        { ...info, isBilled, ended },
        0
      );
      return `${progress} ${JSON.stringify(facts)}`;
    };

    expect(ofBilled(false)).toContain('nothing is billed');
    expect(ofBilled(true)).toContain('is-billed');
    expect(ofBilled(true, true)).not.toContain('billed');
    expect(ofBilled(null)).not.toContain('billed');
  });

  it('has no bar and no time where a result came without its launches', () => {
    const info = {
      ...readWire('ComparisonInfo', wire),
      state: 'Completed',
      ended: true,
      launched: []
    };

    const told = describeStudy(info, 0);

    expect([told.progress, told.done]).toEqual([
      'launches: 8 · nothing is billed',
      null
    ]);
    expect(progressWords({ ...info, launches: 0 })).toBe('');
    expect(progressWords({ ...info, state: 'Failed' })).toBe(
      'nothing was launched'
    );
  });
});

describe('the monitor', () => {
  it('names the Python environment in one line where all have the same', () => {
    const named = (...names: string[]): object => ({
      ...wire,
      set_ups: fixture.set_ups.map((setUp, place) => ({
        ...setUp,
        python_environment: names[place] ?? ''
      }))
    });
    const words = (): string =>
      el.querySelector('.smtc-verdict')?.textContent ?? '';

    model.set('info', named('torch-2.9', 'torch-2.9'));
    expect(words()).toContain('Python environment: torch-2.9');
    model.set('info', named('', 'torch-2.9')); // the table tells it
    expect(words()).not.toContain('Python environment');
    model.set('info', named('', ''));

    expect(words()).not.toContain('Python environment');
  });

  it('shows the verdict, the table and the launches as text, never as markup', () => {
    expect(el.querySelector('b')).toBeNull();
    expect(el.querySelector('.smtc-verdict-sentence')?.textContent).toBe(
      wire['sentence']
    );
    const cells = [...el.querySelectorAll('.smtc-set-ups td.smtc-number')];
    expect(cells.map(cell => cell.textContent)).toEqual([
      '0.184 (0.181-0.187)',
      '0.044 (0.043-0.045)',
      'baseline',
      '4.2×no difference seen'
    ]);
    expect(el.textContent).toContain('train-fed-b-b-r1-1121-225315-123');
    expect(el.textContent).toContain('historical 2022-10-27');
    expect(el.textContent).toContain('Launch all of them again.');
  });

  it('says why one that failed before its first step has no charts', () => {
    const launched = fixture.launched.map(launch => ({
      ...launch,
      state: 'Failed',
      steps: 0
    }));
    const charts = (): number =>
      [...el.querySelectorAll<HTMLElement>('.smtc-chart')].filter(
        chart => chart.closest('[hidden]') === null
      ).length;
    model.set('info', wire);
    expect(charts()).toBeGreaterThan(0);

    model.set('info', { ...wire, state: 'Failed', ended: true, launched });

    expect(charts()).toBe(0);
    expect(el.textContent).toContain(
      'No charts: each launch failed or ended before its first step.'
    );
  });

  it('says emulated, and what its seconds are', () => {
    expect(el.querySelector('.smtc-emulated')?.textContent).toBe('emulated');
    expect(el.textContent).toContain('1 s of it took 40 s here');
  });

  it('draws the rounds of a set-up as one line in its colour', () => {
    model.rows('0/steps', STEPS);
    model.rows('1/steps', STEPS);
    model.change({ elapsed_s: 13 });

    expect(labels('Step time')).toEqual(['homogeneous', 'fed <b>&</b>']);
    expect(measured('Step time').map(series => series.color)).toEqual([0, 1]);
    expect(measured('Step time')[0]).toMatchObject({
      ...{ as: 'interval', evidence: 'emulated', low: 'low', high: 'high' }
    });
  });

  it('takes a round into the line of its set-up when its steps come', () => {
    const row = (step: number, timeS: number): number[] => [step, 0, timeS];
    model.rows('0/steps', STEPS, row(3, 0.2), row(4, 0.2));
    const launched = fixture.launched.map(launch => ({
      ...launch,
      set_up: 0
    }));
    model.change({ launched });
    model.rows('1/steps', STEPS, row(3, 0.4));
    vi.advanceTimersByTime(1_000);

    const [line] = measured('Step time');
    expect([...(line?.table.column('step') ?? [])]).toEqual([3, 4]);
    expect(line?.table.column('mean')[0]).toBeCloseTo(0.3);
    expect([...(line?.table.column('high') ?? [])]).toEqual([0.4, NaN]);
  });

  it('draws each launch once, in the colour of its set-up, on demand', () => {
    model.rows('0/steps', STEPS);
    model.rows('1/steps', STEPS);
    const single = button('Single rounds');
    expect(single.getAttribute('aria-pressed')).toBe('false');

    single.click();

    expect(single.getAttribute('aria-pressed')).toBe('true');
    expect(labels('Step time')).toEqual([
      'homogeneous, round 1',
      'fed <b>&</b>, round 1'
    ]);
    expect(measured('Step time').map(series => series.color)).toEqual([0, 1]);
    single.click();
    expect(labels('Step time')).toEqual(['homogeneous', 'fed <b>&</b>']);
  });

  it('writes letter and number of a set-up at the end of its line', () => {
    model.rows('0/steps', STEPS);
    const [first, second] = fixture.set_ups;
    model.change({ set_ups: [{ ...first, step_time_s: 0.748 }, second] });

    expect(endLabels.get('Step time')?.[0]).toEqual({
      color: 0,
      text: 'A 748 ms'
    });
    expect(endLabels.get('Cost of 1,000 steps')).toEqual([
      { color: 0, text: 'A $0.795' }
    ]);
    button('Single rounds').click();
    expect(endLabels.has('Step time')).toBe(false);
  });

  it('shows two charts and the money first, and draws the others unfolded', () => {
    model.rows('0/steps', STEPS);
    expect([...charts.keys()]).toEqual(['Step time', 'Cost of 1,000 steps']);
    expect(el.querySelector('.smtc-money figcaption')?.textContent).toBe(
      'Where the money goes'
    );

    unfold('Data');

    expect(labels('Data wait')).toEqual(['homogeneous']);
    expect(charts.has('Speed-up over homogeneous')).toBe(false);
  });

  it('finds unfolded what was unfolded in another view of the same comparison', () => {
    model.rows('ratio:1', RATIO);
    unfold('Speed-up and saving');
    dispose();
    charts.clear();
    el.replaceChildren();

    dispose = shownIn(el, model, 'comparison-monitor');

    expect(charts.has('Speed-up over homogeneous')).toBe(true);
    const shut = [...el.querySelectorAll('details')].find(each => each.open);
    shut?.removeAttribute('open');
    shut?.dispatchEvent(new Event('toggle'));
  });

  it('draws what was predicted of a set-up in its colour, over the steps so far', () => {
    const predicted = (): ISeries[] =>
      (charts.get('Step time') ?? []).filter(
        series => series.evidence === 'predicted'
      );
    expect(predicted()).toMatchObject([{ label: 'homogeneous', color: 0 }]);

    const setUps = (wire['set_ups'] as object[]).map(setUp => ({
      ...setUp,
      predicted_step_time_s: { mean: 0.05, low: 0.04, high: 0.06 }
    }));
    model.change({ set_ups: setUps });

    const [first, second] = predicted();
    expect(second).toMatchObject({ label: 'fed <b>&</b>', color: 1 });
    expect([...(first?.table.column('step') ?? [])]).toEqual([0, 40]);
    expect([...(second?.table.column('step') ?? [])]).toEqual([0, 10]);
    expect([...(second?.table.column('high') ?? [])]).toEqual([0.06, 0.06]);
  });

  it('shades the steps that are warm-up in every launch', () => {
    const warmUp = [{ label: 'warm-up', from: 0, to: 0.5 }];

    expect(shades.get('Step time')).toEqual(warmUp);
    expect(shades.get('Cost of a launch so far')).toBeUndefined();
  });

  it('draws costs of set-ups with a price only', () => {
    model.rows('0/steps', STEPS);
    model.rows('1/steps', STEPS);

    expect(labels('Cost of 1,000 steps')).toEqual(['homogeneous']);
    expect(charts.get('Cost of 1,000 steps')?.[0]?.factor).toBeCloseTo(
      (1000 * 3.825) / 3600
    );
  });

  it('draws the ratio with its interval, and no cost ratio without prices', () => {
    model.rows('ratio:1', RATIO);
    unfold('Speed-up and saving');

    const [ratio] = charts.get('Speed-up over homogeneous') ?? [];
    expect(ratio).toMatchObject({
      label: 'fed <b>&</b>',
      y: 'mean',
      low: 'low',
      high: 'high',
      as: 'interval',
      color: 1
    });
    expect(labels('Cost per step against homogeneous')).toEqual([]);
  });

  it('shows the utilization of the newest launch of each set-up', () => {
    model.rows('1/system:algo-1', HOST);
    model.rows('1/system:algo-2', HOST);
    model.rows('1/steps', STEPS);
    const title = 'Utilization: fed <b>&</b>';
    unfold('Utilization');
    expect(labels(title)).toEqual([
      'CPU of dnn_group',
      'CPU of data_group',
      'device'
    ]);

    const launched = [
      ...(wire['launched'] as object[]).slice(0, 2),
      { ...(wire['launched'] as object[])[1], round: 2 }
    ];
    model.change({ launched });
    expect(labels(title)).toHaveLength(3);
    model.rows('2/system:algo-2', HOST);

    expect(labels(title)).toEqual(['CPU of data_group']);
  });

  it('folds what each instance receives and sends, in the colours of a network', () => {
    model.rows('1/system:algo-1', HOST, [1, 0.5, 1e9, 1e6, 1e3, NaN]);
    model.rows('1/system:algo-2', HOST, [1, 0.5, 1e9, NaN, NaN, NaN]);
    unfold('Network');

    const series = measured('Network: fed <b>&</b>');

    expect(series.map(({ label }) => label)).toEqual([
      'received by dnn_group',
      'sent by dnn_group'
    ]);
    expect(series.map(({ color }) => color)).toEqual([
      partColor('net', 0),
      partColor('net', 1)
    ]);
  });

  it('has no fold for a network of which nobody told', () => {
    model.rows('1/system:algo-1', HOST, [1, 0.5, 1e9, NaN, NaN, NaN]);

    const fold = [...el.querySelectorAll('details')].find(
      each =>
        each.querySelector('summary')?.firstChild?.textContent === 'Network'
    );
    expect(fold?.hidden).toBe(true);
  });

  it('draws what is busy in the colours of parts, which no set-up has', () => {
    model.rows('1/system:algo-1', HOST);
    model.rows('1/system:algo-2', HOST);
    model.rows('1/steps', STEPS);
    unfold('Utilization');

    const colors = measured('Utilization: fed <b>&</b>').map(
      ({ color }) => color
    );

    expect(colors).toEqual([
      partColor('cpu', 0),
      partColor('cpu', 1),
      partColor('dev', 0)
    ]);
  });

  it('stops after asking once more, in its place', () => {
    button('Stop').click();
    expect(model.sent).toEqual([{ type: 'resync' }]);

    button('Stop it').click();

    expect(model.sent.at(-1)).toEqual({ type: 'stop' });
  });

  it('tells that it could not be stopped', () => {
    button('Stop').click();
    button('Stop it').click();

    model.set('stop_problem', 'It could not be stopped: not yours');

    expect(el.textContent).toContain('not yours');
    expect(button('Stop').disabled).toBe(false);
  });

  it('offers no stop when it has ended', () => {
    model.change({ ended: true, state: 'Completed' });

    expect(button('Stop').closest<HTMLElement>('.smtc-stop')?.hidden).toBe(
      true
    );
  });

  it('speaks the verdict at most every ten seconds, and at the end', () => {
    const spoken = el.querySelector('header .smtc-sr');
    vi.advanceTimersByTime(0);
    expect(spoken?.textContent).toBe(wire['sentence']);

    model.change({ sentence: 'Second.' });
    vi.advanceTimersByTime(5_000);
    model.change({ sentence: 'Third.' });
    expect(spoken?.textContent).toBe(wire['sentence']);
    vi.advanceTimersByTime(5_000);
    expect(spoken?.textContent).toBe('Third.');

    model.set('info', {
      ...wire,
      sentence: 'Last.',
      state: 'Completed',
      ended: true
    });
    vi.advanceTimersByTime(0);
    expect(spoken?.textContent).toBe('Completed. Last.');
  });

  it('says when no news comes, and takes it back', () => {
    const news = el.querySelector<HTMLElement>('header .smtc-warning');
    expect(news?.hidden).toBe(true);

    vi.advanceTimersByTime(8_000);
    expect(news?.hidden).toBe(false);
    expect(news?.textContent).toContain(
      'lab.ComparisonRun.open("train-comparison'
    );

    model.set('beat', { number: 2, elapsed_s: 20 });
    expect(news?.hidden).toBe(true);
  });

  it('offers the numbers as a file once there are some', () => {
    expect(() => button('Save as JSON')).toThrow();

    model.set('result', '{"schema_version": 1}');
    model.set('result', '{"schema_version": 1, "more": 2}');

    expect(button('Save as JSON')).toBeDefined();
    expect(el.textContent.match(/Save as JSON/g)).toHaveLength(1);
  });

  it('saves what Python wrote, under the name of the comparison', () => {
    const blobs: Blob[] = [];
    const files: string[] = [];
    vi.stubGlobal('URL', {
      createObjectURL: (blob: Blob) => {
        blobs.push(blob);
        return 'blob:here';
      },
      revokeObjectURL: vi.fn()
    });
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
      this: HTMLAnchorElement
    ) {
      files.push(this.download);
    });
    model.set('result', '{"schema_version": 1}');

    button('Save as JSON').click();

    expect(files).toEqual(['train-comparison-2x3-1121-225315-123.json']);
    expect(blobs[0]?.size).toBe('{"schema_version": 1}'.length);
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  it('never makes markup of what it is told', () => {
    const tell = (text: string): void => {
      model.set('info', {
        ...wire,
        name: text,
        reason: text,
        scale: text,
        sentence: text,
        set_ups: fixture.set_ups.map(each => ({ ...each, label: text })),
        launched: fixture.launched.map(each => ({
          ...each,
          job_name: text,
          label: text
        })),
        rows: [{ label: text, cells: [[text], [text]] }],
        notes: [text],
        findings: [{ severity: 'note', sentence: text, fix: text }],
        code: text
      });
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

  it('lets go of everything, twice', () => {
    dispose();
    dispose();

    expect(model.numCallbacks).toBe(0);
    expect(charts.size).toBe(0);
  });
});
