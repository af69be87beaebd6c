import { describe, expect, it } from 'vitest';
import { lowerBound, upperBound, XView } from '../src/charts/ranges.js';

const ALL = { from: 0, to: 100 };

it('finds equal values from both sides', () => {
  const values = Float64Array.of(1, 2, 2, 2, 5);

  expect(lowerBound(values, 2)).toBe(1);
  expect(upperBound(values, 2)).toBe(4);
  expect(lowerBound(values, 9)).toBe(5);
  expect(upperBound(values, 0)).toBe(0);
});

describe('XView', () => {
  it('shows all, also what comes, until somebody zooms', () => {
    const view = new XView();

    expect(view.of(ALL)).toEqual(ALL);
    view.zoomTo({ from: 20, to: 40 }, ALL);
    expect(view.of({ from: 0, to: 1_000 })).toEqual({ from: 20, to: 40 });
    view.reset();
    expect(view.of({ from: 0, to: 1_000 })).toEqual({ from: 0, to: 1_000 });
  });

  it('keeps the place under the mouse where it is', () => {
    const view = new XView();
    view.zoomBy(0.5, ALL, 0.25);

    const { from, to } = view.of(ALL);
    expect(from + 0.25 * (to - from)).toBeCloseTo(25);
    expect(to - from).toBeCloseTo(50);
  });

  it('does not leave what is there', () => {
    const view = new XView();
    view.zoomTo({ from: 80, to: 100 }, ALL);
    view.panBy(5, ALL);
    expect(view.of(ALL)).toEqual({ from: 80, to: 100 });

    view.panBy(-50, ALL);
    expect(view.of(ALL)).toEqual({ from: 0, to: 20 });
  });

  it('shows all when it is zoomed out far enough', () => {
    const view = new XView();
    view.zoomTo({ from: 20, to: 40 }, ALL);
    view.zoomBy(10, ALL);

    expect(view.isZoomed).toBe(false);
  });

  it('gives a single place some room', () => {
    expect(new XView().of({ from: 3, to: 3 })).toEqual({ from: 2.5, to: 3.5 });
  });

  it('does not zoom to nothing', () => {
    const view = new XView();
    view.zoomTo({ from: 50, to: 50 }, ALL);

    const { from, to } = view.of(ALL);
    expect(to).toBeGreaterThan(from);
  });
});
