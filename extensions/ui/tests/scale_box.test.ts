import { expect, it, vi } from 'vitest';
import { countsOf, ScaleBox } from '../src/workbench/scale_box.js';

function typed(box: ScaleBox, text: string): HTMLButtonElement {
  const input = box.element.querySelector('input') as HTMLInputElement;
  input.value = text;
  input.dispatchEvent(new Event('input'));
  return box.element.querySelector('button') as HTMLButtonElement;
}

it('asks for each number once, the fewest first', () => {
  const onScale = vi.fn();
  const box = new ScaleBox(onScale);
  box.allow(true);

  typed(box, '4, 1,2 ,4').click();

  expect(onScale).toHaveBeenCalledExactlyOnceWith([1, 2, 4]);
});

it('says what to write instead of what is no number of devices', () => {
  const onScale = vi.fn();
  const box = new ScaleBox(onScale);

  const button = typed(box, '1, two');
  button.click();

  expect(button.disabled).toBe(true);
  expect(box.element.textContent).toContain('Write whole numbers');
  expect(onScale).not.toHaveBeenCalled();
  expect([countsOf('0'), countsOf(''), countsOf('1.5')]).toEqual([
    null,
    null,
    null
  ]);
});

it('starts nothing while something else runs', () => {
  const box = new ScaleBox(vi.fn());

  box.allow(false);

  expect(typed(box, '1, 2').disabled).toBe(true);
});
