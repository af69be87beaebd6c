import { readWire, type IRunInfo } from '@smtc-lab/protocol';
import { expect, it } from 'vitest';
import { pipeline } from '../src/run/pipeline.js';
import wire from '../../../tests/fixtures/run_info.json';
import told from '../../../tests/fixtures/pipeline_info.json';

function shown(changed: object | null = {}) {
  const part = pipeline();
  const update = (more: object | null): void => {
    part.update(infoOf(more === null ? null : { ...told, ...more }));
  };
  update(changed);
  return { element: part.element, update };
}

function infoOf(given: object | null): IRunInfo {
  return readWire('RunInfo', { ...wire, pipeline: given });
}

function texts(element: Element, selector: string): string[] {
  return [...element.querySelectorAll(selector)].map(
    found => found.textContent
  );
}

function rows(element: Element, name: string): string[][] {
  return [...element.querySelectorAll(`.${name} tbody tr`)].map(row =>
    texts(row, 'th, td')
  );
}

it('is hidden where no model is cut, or an older version told it', () => {
  const { element } = shown(null);

  expect(element.hidden).toBe(true);
});

it('says first what the pipeline waits for', () => {
  const { element } = shown();

  expect(element.hidden).toBe(false);
  expect(texts(element, 'p')[0]).toBe(told.sentence);
  expect(texts(element, 'p')[1]).toContain('1f1b, 2 microbatches');
  expect(texts(element, 'p')[1]).toContain('means of 4 steps, emulated');
});

it('has a lane for each rank, and a box where it computed or waited', () => {
  const { element } = shown();

  const lanes = [...element.querySelectorAll('.smtc-lane')];
  expect(lanes).toHaveLength(2);
  expect(
    lanes.map(lane =>
      [...lane.querySelectorAll('.smtc-span')].map(box =>
        box.className.slice(20)
      )
    )
  ).toEqual([
    ['forward', 'forward', 'wait', 'backward', 'transfer', 'backward'],
    ['wait', 'forward', 'backward', 'forward', 'backward', 'wait']
  ]);
  const [, box] = lanes[1]?.querySelectorAll('.smtc-span') ?? [];
  expect(box?.getAttribute('style')).toBe('left: 12.5%; width: 12.5%');
  expect(box?.getAttribute('title')).toBe(
    'stage 1, microbatch 0, forward: 100 ms'
  );
  expect(box?.textContent).toBe('0');
});

it('explains the boxes that there are, and no others', () => {
  const { element } = shown();

  const key = element.querySelector('.smtc-lane-key')?.textContent;
  expect(key).toContain('backward');
  expect(key).not.toContain('gradients of weights');
});

it('tells of each stage what it is, and what was expected of it', () => {
  const { element } = shown();

  expect(rows(element, 'smtc-stages')).toEqual([
    [
      '0',
      '0, algo-1',
      '2 (0 … 2)',
      '48 % (predicted 49 %)',
      '100 ms',
      '200 ms',
      '24 KiB',
      '75\u00a0%',
      '20\u00a0%'
    ],
    [
      '1',
      '1, algo-1',
      '3',
      '52 % (predicted 51 %)',
      '100 ms',
      '200 ms',
      '20 KiB of 1 MiB',
      '75\u00a0%',
      '20\u00a0%'
    ]
  ]);
});

it('has every box in a table, once somebody opens it', () => {
  const { element, update } = shown();
  expect(rows(element, 'smtc-spans')).toEqual([]);

  const details = element.querySelector('details') as HTMLDetailsElement;
  details.open = true;
  details.dispatchEvent(new Event('toggle'));

  const list = rows(element, 'smtc-spans');
  expect(list).toHaveLength(12);
  expect(list[1]).toEqual([
    ...['0', '100 ms', '100 ms', 'forward', '0', '1'],
    ...['75 ms', '75 ms']
  ]);
  expect(list[2]?.slice(3)).toEqual([
    'bubble: waits for another stage',
    ...['\u2013', '\u2013', '\u2013', '\u2013']
  ]);
  update({ timeline: { ...told.timeline, step: 9, rank: [], kind: [] } });
  expect(rows(element, 'smtc-spans')).toEqual([]);
  expect(details.open).toBe(true);
});

it('shows the cut before a step was timed', () => {
  const { element } = shown({
    num_steps: 0,
    timeline: null,
    stages: told.stages.map(stage => ({
      ...stage,
      time_fraction: null,
      forward_s: null,
      backward_s: null
    }))
  });

  expect(element.querySelector('.smtc-lanes')).toBeNull();
  expect(element.querySelector('details')?.hidden).toBe(true);
  expect(rows(element, 'smtc-stages')[0]?.slice(3, 6)).toEqual([
    'predicted 49 %',
    'unknown',
    'unknown'
  ]);
});

it('says how many boxes are left out', () => {
  const { element } = shown({ timeline: { ...told.timeline, left_out: 40 } });

  expect(element.textContent).toContain('The last 40 boxes are left out.');
});

it('has what was predicted behind it, on one axis, and in words', () => {
  const { element } = shown();

  const [first] = element.querySelectorAll('.smtc-lane');
  expect(
    [...(first?.children ?? [])].slice(0, 5).map(box => box.className)
  ).toEqual([
    'smtc-foretold smtc-foretold-forward',
    'smtc-foretold smtc-foretold-forward',
    'smtc-foretold smtc-foretold-backward',
    'smtc-foretold smtc-foretold-backward',
    'smtc-span smtc-span-forward'
  ]);
  expect(first?.children[1]?.getAttribute('style')).toBe(
    'left: 9.375%; width: 9.375%'
  );
  const picture = element.querySelector('[role=img]');
  expect(picture?.getAttribute('aria-label')).toBe(
    'Step 7 of the pipeline, a row for each rank over 800 ms, predicted 675 ms'
  );
  const steps = [...element.querySelectorAll('.smtc-lane-step')];
  expect(steps.map(bar => bar.previousSibling?.textContent)).toEqual([
    'emulated800 ms',
    'predicted675 ms'
  ]);
  expect(element.querySelector('.smtc-lane-key')?.textContent).toContain(
    'predicted: what the emulated device declares'
  );
});

it('draws a longer prediction to its end', () => {
  const { element } = shown({
    predicted: { ...told.predicted, window_s: 1.6 },
    is_scaled: true
  });

  const [, box] = element.querySelectorAll('.smtc-lane .smtc-span');
  expect(box?.getAttribute('style')).toBe('left: 6.25%; width: 6.25%');
  expect(element.querySelector('.smtc-lane-axis')?.textContent).toContain(
    '1.6 s'
  );
  expect(element.textContent).toContain('divided by operations');
});

it('says that nothing was predicted, as of a run from before', () => {
  const { element } = shown({ predicted: null });

  expect(element.querySelector('.smtc-foretold, .smtc-lane-step')).toBeNull();
  expect(element.textContent).toContain(
    'This run holds no prediction of a step.'
  );
  const details = element.querySelector('details') as HTMLDetailsElement;
  details.open = true;
  details.dispatchEvent(new Event('toggle'));
  expect(rows(element, 'smtc-spans')[0]).toHaveLength(6);
});

it('draws the median, or another step that is chosen and stays', () => {
  const { element, update } = shown();
  const chooser = element.querySelector('select') as HTMLSelectElement;
  expect(texts(element, 'option')).toEqual([
    'step 7: 800 ms, the median',
    'step 9: 700 ms'
  ]);
  expect(chooser.value).toBe('7');
  expect(chooser.closest('label')?.textContent).toContain('Drawn is');

  chooser.value = '9';
  chooser.dispatchEvent(new Event('change'));

  const label = (): string | null | undefined =>
    element.querySelector('[role=img]')?.getAttribute('aria-label');
  expect(label()).toContain('Step 9');
  const newer = { ...told.timeline, step: 12 };
  update({
    other_steps: [told.timeline, ...told.other_steps],
    timeline: newer
  });
  expect(label()).toContain('Step 9');
  update({ other_steps: [told.timeline], timeline: newer });
  expect(label()).toContain('Step 12');
  expect(chooser.value).toBe('12');
});

it('has nothing to choose of one step', () => {
  const { element, update } = shown({ other_steps: [] });

  expect(element.querySelector('select')).toBeNull();
  update({});
  expect(element.querySelector('select')).not.toBeNull();
});
