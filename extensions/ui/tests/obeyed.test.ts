import { describe, expect, it } from 'vitest';
import { CanvasPen } from '../src/charts/canvas_pen.js';
import { csvLine } from '../src/charts/save.js';
import { SvgPen } from '../src/charts/svg_pen.js';
import { h } from '../src/dom.js';
import { s } from '../src/plan/svg.js';

const OBEYED = '\u202e3.1×\u2066\u001b[2J\u0007\u0000\u200f';
const SHOWN = '\ufffd3.1×\ufffd\ufffd[2J\ufffd\ufffd\ufffd';
const STYLE = { color: 'black', size: 11 };

describe('what a page shows or saves holds no text that a reader would obey', () => {
  it('in an element and in what is read of its attributes', () => {
    const element = h(
      'p',
      { title: OBEYED, 'aria-label': OBEYED },
      OBEYED,
      h('b', {}, OBEYED)
    );

    expect(element.textContent).toBe(SHOWN + SHOWN);
    expect(element.title).toBe(SHOWN);
    expect(element.getAttribute('aria-label')).toBe(SHOWN);
  });

  it('but what a form holds stays as it was typed', () => {
    expect(h('option', { value: OBEYED }).value).toBe(OBEYED);
  });

  it('in an image of a page', () => {
    const image = s('text', { 'aria-label': OBEYED }, OBEYED);

    expect(image.textContent).toBe(SHOWN);
    expect(image.getAttribute('aria-label')).toBe(SHOWN);
  });

  it('in a saved image', () => {
    const pen = new SvgPen(100, 100, 'sans-serif');
    pen.text(OBEYED, 0, 0, STYLE);

    expect(pen.toText()).toContain(SHOWN);
    expect(pen.toText()).not.toContain('\u202e');
  });

  it('on a canvas', () => {
    const drawn: string[] = [];
    const context = {
      fillText: (text: string) => drawn.push(text)
    } as unknown as CanvasRenderingContext2D;

    new CanvasPen(context, 'sans-serif').text(OBEYED, 0, 0, STYLE);

    expect(drawn).toEqual([SHOWN]);
  });

  it('in a saved table', () => {
    expect(csvLine([OBEYED, 1])).toBe(`${SHOWN},1\n`);
    expect(csvLine(['\r=1+1'])).toBe('\ufffd=1+1\n');
  });
});
