import { afterEach, describe, expect, it, vi } from 'vitest';
import { cellData, dragCells } from '../src/drag.js';

const dragged = vi.hoisted(() => [] as { mimeData: unknown }[]);

vi.mock('@lumino/dragdrop', () => ({
  // jsdom has no layout to drag over
  Drag: class {
    constructor(options: { mimeData: unknown }) {
      dragged.push(options);
    }

    async start(): Promise<string> {
      return Promise.resolve('copy');
    }

    dispose(): void {
      // nothing is held
    }
  }
}));

function pointer(type: string, at: number): MouseEvent {
  // jsdom has no PointerEvent with a place
  return new MouseEvent(type, { bubbles: true, clientX: at, clientY: 0 });
}

function list(): HTMLElement {
  const host = document.createElement('div');
  const row = document.createElement('span');
  host.append(row);
  document.body.append(host);
  return host;
}

afterEach(() => {
  dragged.length = 0;
  document.body.replaceChildren();
});

describe('a row that is dragged', () => {
  it('carries a cell for notebooks, and its code for all else', () => {
    const data = cellData('lab.Run.open("a")');

    expect(data.getData('application/vnd.jupyter.cells')).toMatchObject([
      { cell_type: 'code', source: 'lab.Run.open("a")' }
    ]);
    expect(data.getData('text/plain')).toBe('lab.Run.open("a")');
  });

  it('begins when the pointer has moved far enough, not with a click', () => {
    const host = list();
    dragCells(host, () => ({ code: 'run', label: 'run' }));

    host.firstChild?.dispatchEvent(pointer('pointerdown', 0));
    document.dispatchEvent(pointer('pointermove', 3));
    expect(dragged).toHaveLength(0);
    document.dispatchEvent(pointer('pointermove', 8));
    document.dispatchEvent(pointer('pointermove', 20));

    expect(dragged).toHaveLength(1);
  });

  it('ends with the button, so that a later move drags nothing', () => {
    const host = list();
    dragCells(host, () => ({ code: 'run', label: 'run' }));

    host.firstChild?.dispatchEvent(pointer('pointerdown', 0));
    document.dispatchEvent(pointer('pointerup', 0));
    document.dispatchEvent(pointer('pointermove', 50));

    expect(dragged).toHaveLength(0);
  });

  it('is none where there is no cell, and after the end', () => {
    const host = list();
    const leave = dragCells(host, () => null);
    host.firstChild?.dispatchEvent(pointer('pointerdown', 0));
    leave();
    host.firstChild?.dispatchEvent(pointer('pointerdown', 0));
    document.dispatchEvent(pointer('pointermove', 50));

    expect(dragged).toHaveLength(0);
  });
});
