import { beforeEach, describe, expect, it, vi } from 'vitest';
import fixture from '../../../tests/fixtures/planned_cut.json';
import { pipelinePicture } from '../src/stages/picture.js';
import { foldsOf } from '../src/stages/folds.js';
import { moved, numMoved, stageOf } from '../src/stages/moves.js';
import { buttonIn, FakeModel } from './fake_model.js';
import { HOSTILE, markupOf } from './hostile.js';

const { model: MODEL, cut: CUT } = fixture;
const [FIRST, LAST] = CUT.stages as [
  (typeof CUT.stages)[0],
  (typeof CUT.stages)[0]
];

let model: FakeModel;
let el: HTMLElement;
let leave: () => void;

function show(changes: object = {}, modelChanges: object = {}): void {
  model = new FakeModel({
    model: { ...MODEL, ...modelChanges },
    cut: { ...CUT, ...changes }
  });
  el = document.createElement('div');
  document.body.replaceChildren(el);
  const state = pipelinePicture.initialize(model);
  leave = pipelinePicture.render({ model, el, state });
  const columns = el.querySelector('.smtc-stages-row') as HTMLElement;
  columns.setPointerCapture = vi.fn();
}

/**
 * Answer what was asked for, as Python does.
 */
function answer(changes: object = {}): void {
  const told = model.get('cut') as typeof CUT;
  const { starts } = model.sent.at(-1) as { starts: number[] };
  const answered = told.answer + 1;
  model.set('cut', { ...told, answer: answered, starts, ...changes });
}

function names(): string[][] {
  return [...el.querySelectorAll('[role=listbox]')].map(list =>
    [...list.querySelectorAll('b')].map(({ textContent }) => textContent)
  );
}

function box(name: string): HTMLElement {
  return [...el.querySelectorAll<HTMLElement>('[role=option]')].find(
    each => each.querySelector('b')?.textContent === name
  ) as HTMLElement;
}

function press(name: string, key: string, more: object = {}): void {
  const target = name === '' ? (document.activeElement as Element) : box(name);
  (target as HTMLElement).focus();
  target.dispatchEvent(
    new KeyboardEvent('keydown', {
      key,
      bubbles: true,
      cancelable: true,
      ...more
    })
  );
}

function pointer(type: string, target: Element, clientX: number): void {
  const event = new MouseEvent(type, { bubbles: true, button: 0, clientX });
  Object.assign(event, { pointerId: 1 });
  target.dispatchEvent(event);
}

function text(selector: string): string {
  return el.querySelector(selector)?.textContent ?? '';
}

function isAllowed(words: string): boolean {
  return buttonIn(el, words).getAttribute('aria-disabled') === 'false';
}

function sent(): unknown[] {
  return model.sent.map(one => (one as { starts: unknown }).starts);
}

beforeEach(() => {
  show();
});

describe('a sequence of stages', () => {
  it('gives a module and all up to the boundary to the stage beside', () => {
    expect(moved([0, 4], 2, 1, 7)).toEqual([0, 2]);
    expect(moved([0, 4], 5, -1, 7)).toEqual([0, 6]);
    expect(moved([0, 2, 4], 3, 1, 7)).toEqual([0, 2, 3]);
    expect(numMoved([0, 4], [0, 2])).toBe(2);
    expect([0, 3, 4, 6].map(module => stageOf([0, 4], module))).toEqual([
      ...[0, 0, 1, 1]
    ]);
  });

  it('leaves no stage empty, and has an end', () => {
    expect(moved([0, 4], 0, 1, 7)).toBeNull();
    expect(moved([0, 4], 6, -1, 7)).toBeNull();
    expect(moved([0, 4], 1, -1, 7)).toBeNull();
    expect(moved([0, 4], 5, 1, 7)).toBeNull();
  });
});

describe('a picture of a planned pipeline', () => {
  it('has a column for each stage, and boxes as high as modules are long', () => {
    expect(names()).toEqual([
      ['layers.0', 'layers.1', 'layers.2', 'layers.3'],
      ['layers.4', 'layers.5', 'head']
    ]);
    const heights = ['layers.1', 'head'].map(name =>
      parseFloat(box(name).style.getPropertyValue('--smtc-time'))
    );
    expect((heights[1] ?? 0) / (heights[0] ?? 1)).toBeCloseTo(2, 1);
    expect(box('head').getAttribute('aria-label')).toBe(
      'head, predicted 52.2 ms'
    );
  });

  it('says what a step takes, that it is predicted, and by what', () => {
    expect(text('.smtc-cut-step')).toBe('A step takes 513 ms predicted');
    expect(text('.smtc-cut-steps')).toContain('before the change–');
    expect(text('.smtc-cut-steps')).toContain('best automatic cut513 ms');
    expect(text('.smtc-cut-summary')).toContain('1.56 times as fast');
    expect(text('.smtc-cut-summary')).toMatch(/idle for 22\s% of a step/);
    expect(text('.smtc-cut-summary')).toContain(
      '1f1b, 4 microbatches; predicted by operations.'
    );
    expect(text('.smtc-stage:nth-child(2) .smtc-stage-head')).toContain(
      '→ 2.05 kB from stage 0 for each microbatch'
    );
    expect(text('.smtc-code code')).toContain('pins={"layers.3": 0');
  });

  it('has shares of a step where no time is known', () => {
    show({ step: 0.5 }, { unit: 'fraction' });

    expect(text('.smtc-cut-step')).toMatch(
      /A step takes 50\s% of that of one device/
    );
    expect(text('.smtc-cut-summary')).toContain(
      'times are shares of a step of one device'
    );
  });

  it('tells in words how much memory a device is short of', () => {
    expect(el.querySelector('[data-over]')).toBeNull();
    expect(text('.smtc-stage-head')).toContain('holds 0.283 MB of 0.3 MB');

    show({ stages: [{ ...FIRST, held_bytes: 500_000 }, LAST] });

    const [over, ...others] = el.querySelectorAll('.smtc-stage[data-over]');
    expect(others).toEqual([]);
    expect(over?.querySelector('.smtc-cut-over')?.textContent).toBe(
      '⚠ 0.2 MB short: holds 0.5 MB of 0.3 MB'
    );
    show({ stages: [{ ...FIRST, limit_bytes: null }, LAST] });
    expect(text('.smtc-stage-head')).toContain('holds 0.283 MB');
    expect(text('.smtc-stage-head')).not.toContain(' of ');
  });

  it('makes no markup of names, and no answer of a torn one', () => {
    const markup = markupOf(el);
    const modules = MODEL.modules.map((each, place) => ({
      ...each,
      name: HOSTILE[place % HOSTILE.length] ?? ''
    }));

    show({ sentence: HOSTILE[0] }, { modules });

    expect(markupOf(el)).toEqual(markup);
    expect(() => {
      show({ starts: 'x' });
    }).toThrow(/starts="x"/);
  });

  it('listens to nothing once it is left', () => {
    leave();

    expect(el.children).toHaveLength(0);
    model.set('cut', { ...CUT, answer: 1, starts: [0, 1] });
    expect(el.children).toHaveLength(0);
  });
});

describe('keys', () => {
  it('move a module and what lies between, and keep the focus on it', () => {
    press('layers.2', 'ArrowRight');

    expect(model.sent).toEqual([{ type: 'cut', starts: [0, 2] }]);
    expect(names()[0]).toEqual(['layers.0', 'layers.1']);
    expect(names()[1]?.slice(0, 2)).toEqual(['layers.2', 'layers.3']);
    expect(document.activeElement).toBe(box('layers.2'));
    expect(el.querySelector('[data-waiting]')).not.toBeNull();

    answer({ step: 0.6 });

    expect(el.querySelector('[data-waiting]')).toBeNull();
    expect(text('.smtc-cut-steps')).toContain('before the change513 ms');
    expect(text('[role=status].smtc-sr')).toBe(
      'layers.2 moved with 1 more. A step takes 600 ms, predicted.'
    );
  });

  it('go through the modules of a stage', () => {
    press('layers.1', 'ArrowDown');
    expect(document.activeElement).toBe(box('layers.2'));
    press('', 'End');
    expect(document.activeElement).toBe(box('layers.3'));
    press('', 'ArrowDown');
    expect(document.activeElement).toBe(box('layers.3'));
    press('', 'Home');
    press('', 'ArrowUp');
    expect(document.activeElement).toBe(box('layers.0'));

    const stops = [...el.querySelectorAll('[role=option][tabindex="0"]')];
    expect(stops).toEqual([box('layers.0'), box('layers.4')]);
  });

  it('say why a module stays', () => {
    press('layers.0', 'ArrowRight');
    expect(text('[role=alert]')).toBe(
      'Stage 0 would have no module left: each needs one.'
    );
    press('layers.1', 'ArrowLeft');
    expect(text('[role=alert]')).toBe('Stage 0 is the first one.');
    press('head', 'ArrowRight');
    expect(text('[role=alert]')).toBe('Stage 1 is the last one.');
    expect(model.sent).toEqual([]);
  });

  it('undo and redo', () => {
    press('layers.2', 'ArrowRight');
    answer();
    press('layers.2', 'z', { ctrlKey: true });
    answer();
    press('layers.2', 'Z', { ctrlKey: true, shiftKey: true });

    expect(sent()).toEqual([
      [0, 2],
      [0, 4],
      [0, 2]
    ]);
  });

  it('that are pressed fast ask once more, for the last', () => {
    press('layers.3', 'ArrowRight');
    press('layers.2', 'ArrowRight');
    press('layers.1', 'ArrowRight');
    expect(sent()).toEqual([[0, 3]]);

    answer();

    expect(sent()).toEqual([
      [0, 3],
      [0, 1]
    ]);
    expect(names()[0]).toEqual(['layers.0']);
  });
});

describe('a pointer', () => {
  it('drags a module over, and the plan is asked for as it moves', () => {
    pointer('pointerdown', box('layers.3'), 0);
    pointer('pointermove', box('layers.3'), 100);

    expect(sent()).toEqual([[0, 3]]);
    expect(box('layers.3').hasAttribute('data-moving')).toBe(true);
    expect(isAllowed('Undo')).toBe(false);
    answer({ step: 0.6 });
    expect(text('.smtc-cut-steps')).toContain('before the change513 ms');
    pointer('pointerup', box('layers.3'), 100);

    expect(isAllowed('Undo')).toBe(true);
    expect(el.querySelector('[data-moving]')).toBeNull();
    expect(names()[1]?.[0]).toBe('layers.3');
  });

  it('that goes back changes nothing', () => {
    pointer('pointerdown', box('layers.3'), 0);
    pointer('pointermove', box('layers.3'), 100);
    answer();
    pointer('pointermove', box('layers.3'), 0);
    answer();
    pointer('pointerup', box('layers.3'), 0);

    expect(sent()).toEqual([
      [0, 3],
      [0, 4]
    ]);
    expect(isAllowed('Undo')).toBe(false);
  });

  it.each(['pointercancel', 'Escape'])('gives up by %s', how => {
    pointer('pointerdown', box('layers.3'), 0);
    pointer('pointermove', box('layers.3'), 100);
    answer();
    if (how === 'Escape') {
      press('layers.3', 'Escape');
    } else {
      pointer(how, box('layers.3'), 100);
    }
    answer();
    pointer('pointerup', box('layers.3'), 100);

    expect(names()[0]?.at(-1)).toBe('layers.3');
    expect(isAllowed('Undo')).toBe(false);
  });

  it('says at once what no stage may be', () => {
    pointer('pointerdown', box('layers.0'), 0);
    pointer('pointermove', box('layers.0'), 100);

    expect(text('[role=alert]')).toContain('would have no module left');
    expect(model.sent).toEqual([]);
  });
});

describe('buttons', () => {
  it('undo, redo and take the best cut, where there is something to', () => {
    expect(['Undo', 'Redo', 'Best cut'].map(isAllowed)).toEqual([
      ...[false, false, false]
    ]);
    press('layers.1', 'ArrowRight');
    answer();
    expect(['Undo', 'Redo', 'Best cut'].map(isAllowed)).toEqual([
      ...[true, false, true]
    ]);

    buttonIn(el, 'Undo').click();
    answer();
    expect(['Undo', 'Redo', 'Best cut'].map(isAllowed)).toEqual([
      ...[false, true, false]
    ]);
    buttonIn(el, 'Redo').click();
    answer();
    buttonIn(el, 'Best cut').click();
    answer();

    expect(sent()).toEqual([
      [0, 1],
      [0, 4],
      [0, 1],
      [0, 4]
    ]);
    expect(isAllowed('Undo')).toBe(true);
  });

  it('offer no best cut where none fits', () => {
    show({ starts: [0, 2] }, { best_starts: null, best_step: null });

    expect(isAllowed('Best cut')).toBe(false);
    expect(text('.smtc-cut-steps')).toContain('best automatic cut–');
    buttonIn(el, 'Best cut').click();
    expect(model.sent).toEqual([]);
  });
});

describe('a cut that Python refuses', () => {
  it('is said in place, and the modules go back', () => {
    press('layers.2', 'ArrowRight');

    answer({ starts: CUT.starts, refused: 'They stay together.' });

    expect(text('[role=alert]')).toBe('They stay together.');
    expect(names()[0]?.at(-1)).toBe('layers.3');
    expect(isAllowed('Undo')).toBe(false);
    expect(document.activeElement).toBe(box('layers.2'));

    press('layers.3', 'ArrowRight');
    answer({ refused: '' });
    const alert = el.querySelector<HTMLElement>('[role=alert]');
    expect(alert?.hidden).toBe(true);
    expect(isAllowed('Undo')).toBe(true);
  });

  it('is no way back to', () => {
    press('layers.3', 'ArrowRight');
    press('layers.2', 'ArrowRight');
    answer({ starts: CUT.starts, refused: 'They stay together.' });
    answer({ refused: '' });

    expect(names()[0]).toEqual(['layers.0', 'layers.1']);
    buttonIn(el, 'Undo').click();
    expect(sent().at(-1)).toEqual([0, 4]);
  });
});

describe('small modules', () => {
  const TIMES = [0.1, 0.0001, 0.0002, 0.1, 0, 0.1, 0.0004];

  beforeEach(() => {
    const modules = MODEL.modules.map(({ name }, place) => ({
      name,
      time: TIMES[place]
    }));
    show({}, { modules });
  });

  it('that follow each other are one box, and so is one that takes no time', () => {
    const modules = Array.from({ length: 9 }, () => 0.004);

    expect(names()).toEqual([
      ['layers.0', '▸ 2', 'layers.3'],
      ['▸ 1', 'layers.5', 'head']
    ]);
    expect(box('▸ 2').getAttribute('aria-label')).toBe(
      '2 small modules, folded, predicted 300 µs'
    );
    expect(box('▸ 2').getAttribute('aria-setsize')).toBe('3');
    expect(foldsOf([0], 0, modules).map(({ isSmall }) => isSmall)).toEqual(
      modules.map(() => false)
    );
  });

  it('open and fold again by keys and by a press', () => {
    press('▸ 2', 'Enter');

    expect(names()[0]).toEqual([
      ...['layers.0', '▾ 2', 'layers.1', 'layers.2', 'layers.3']
    ]);
    expect(document.activeElement).toBe(box('▾ 2'));
    press('', 'ArrowDown');
    expect(document.activeElement).toBe(box('layers.1'));
    press('▾ 2', ' ');
    expect(names()[0]).toEqual(['layers.0', '▸ 2', 'layers.3']);

    pointer('pointerdown', box('▸ 2'), 0);
    pointer('pointerup', box('▸ 2'), 0);
    expect(names()[0]).toContain('▾ 2');
    expect(sent()).toEqual([]);
  });

  it('move together, or one of them once they are open', () => {
    press('▸ 2', 'ArrowRight');
    expect(sent()).toEqual([[0, 1]]);
    answer();
    expect(names()).toEqual([
      ['layers.0'],
      ['▸ 2', 'layers.3', '▸ 1', 'layers.5', 'head']
    ]);
    expect(text('.smtc-sr')).toBe(
      '2 small modules moved with 1 more. A step takes 513 ms, predicted.'
    );
    expect(document.activeElement).toBe(box('▸ 2'));
    press('', 'ArrowLeft');
    answer();

    press('▸ 2', 'Enter');
    press('layers.2', 'ArrowRight');
    answer();
    expect(sent().at(-1)).toEqual([0, 2]);
    expect(names()[0]).toEqual(['layers.0', '▾ 1', 'layers.1']);
    expect(names()[1]?.slice(0, 2)).toEqual(['layers.2', 'layers.3']);
  });
});

describe('the key back', () => {
  it('brings the cut that was before, with all that came along', () => {
    press('layers.1', 'ArrowRight');
    answer();
    press('', 'ArrowLeft');

    expect(sent()).toEqual([
      [0, 1],
      [0, 4]
    ]);
    answer();
    expect(names()[0]).toHaveLength(4);
    press('layers.4', 'ArrowLeft');
    expect(sent().at(-1)).toEqual([0, 5]);
  });

  it('moves that module alone after another change', () => {
    press('layers.1', 'ArrowRight');
    answer();
    press('layers.3', 'ArrowLeft');
    answer();
    press('layers.1', 'ArrowRight');
    answer();
    press('layers.3', 'ArrowLeft');

    expect(sent()).toEqual([
      [0, 1],
      [0, 4],
      [0, 1],
      [0, 4]
    ]);
  });
});
