import { beforeEach, expect, it, vi } from 'vitest';
import { listen, type IActions } from '../src/charts/gestures.js';

let stage: HTMLElement;
let told: [name: string, ...values: unknown[]][];

beforeEach(() => {
  stage = document.createElement('div');
  stage.setPointerCapture = vi.fn(); // jsdom has none
  told = [];
  const tell =
    (name: keyof IActions) =>
    (...values: unknown[]): void => {
      told.push([name, ...values]);
    };
  listen(stage, {
    zoomBy: tell('zoomBy'),
    zoomTo: tell('zoomTo'),
    panBy: tell('panBy'),
    drag: tell('drag'),
    reset: tell('reset'),
    togglePause: tell('togglePause'),
    point: tell('point'),
    step: tell('step'),
    select: tell('select')
  });
});

function mouse(type: string, clientX: number, shiftKey = false): void {
  stage.dispatchEvent(new MouseEvent(type, { clientX, shiftKey, button: 0 }));
}

function key(name: string, more: KeyboardEventInit = {}): KeyboardEvent {
  const event = new KeyboardEvent('keydown', {
    key: name,
    cancelable: true,
    ...more
  });
  stage.dispatchEvent(event);
  return event;
}

it('zooms to what was drawn over, in either direction', () => {
  mouse('pointerdown', 80);
  mouse('pointermove', 30);
  mouse('pointerup', 30);

  expect(told).toEqual([
    ['select', { left: 30, width: 50 }],
    ['select', null],
    ['zoomTo', 30, 80]
  ]);
});

it('does not zoom at a click', () => {
  mouse('pointerdown', 80);
  mouse('pointerup', 80);

  expect(told).toEqual([['select', null]]);
});

it('moves with the shift key', () => {
  mouse('pointerdown', 80, true);
  mouse('pointermove', 70, true);
  mouse('pointerup', 70, true);

  expect(told).toEqual([
    ['drag', 10],
    ['select', null]
  ]);
});

it('points where the mouse is, until it leaves', () => {
  mouse('pointermove', 12);
  mouse('pointerleave', 12);

  expect(told).toEqual([
    ['point', 12],
    ['point', null]
  ]);
});

it('zooms with the wheel only where the page would', () => {
  const wheel = (ctrlKey: boolean): boolean =>
    stage.dispatchEvent(
      new WheelEvent('wheel', {
        deltaY: -100,
        clientX: 5,
        ctrlKey,
        cancelable: true
      })
    );

  expect(wheel(false)).toBe(true);
  expect(told).toEqual([]);
  expect(wheel(true)).toBe(false);
  expect(told[0]?.[0]).toBe('zoomBy');
  expect(told[0]?.[1]).toBeLessThan(1);
});

it.each([
  ['+', {}, ['zoomBy', 0.5]],
  ['-', {}, ['zoomBy', 2]],
  ['ArrowLeft', {}, ['panBy', -0.25]],
  ['ArrowRight', { shiftKey: true }, ['step', 1]],
  ['0', {}, ['reset']],
  [' ', {}, ['togglePause']],
  ['End', {}, ['step', 'last']],
  ['Escape', {}, ['point', null]]
])('understands the key %j with %j', (name, more, action) => {
  expect(key(name, more).defaultPrevented).toBe(true);
  expect(told).toEqual([action]);
});

it('leaves the keys of the browser alone', () => {
  expect(key('0', { ctrlKey: true }).defaultPrevented).toBe(false);
  expect(key('Tab').defaultPrevented).toBe(false);
  expect(told).toEqual([]);
});
