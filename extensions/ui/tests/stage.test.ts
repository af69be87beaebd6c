import { afterEach, expect, it, vi } from 'vitest';
import { SeriesContent } from '../src/charts/series_content.js';
import { Stage } from '../src/charts/stage.js';

const OPTIONS = {
  title: 'Step time',
  x: { label: 'step', unit: 'count' },
  y: { label: 'step time', unit: 's' }
} as const;

afterEach(() => {
  vi.unstubAllGlobals();
});

it('is drawn again where its page was hidden for a moment', () => {
  let tell: (entries: readonly object[]) => void = () => undefined;
  class Observer {
    observe = vi.fn();
    disconnect = vi.fn();
  }
  class Sight extends Observer {
    constructor(callback: typeof tell) {
      super();
      tell = callback;
    }
  }
  vi.stubGlobal('ResizeObserver', Observer);
  vi.stubGlobal('IntersectionObserver', Sight);
  const changed = vi.fn();
  const stage = new Stage('a', new SeriesContent(OPTIONS), 100, changed);

  stage.draw({ from: 0, to: 1 });
  expect(changed).not.toHaveBeenCalled(); // nobody sees it

  tell([{ isIntersecting: true }]);
  changed.mockClear();
  stage.draw({ from: 0, to: 1 }); // of no width, as all is in these tests
  stage.draw({ from: 0, to: 1 });

  expect(changed).toHaveBeenCalledOnce();
  stage.dispose();
});
