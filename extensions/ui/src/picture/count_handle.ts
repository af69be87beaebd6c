import { MAX_COUNT } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { BOX_WIDTH, type IColumn } from './layout.js';

const HEIGHT = 24;
const LONGEST_STEP = 60;

const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: 1,
  ArrowRight: 1,
  ArrowDown: -1,
  ArrowLeft: -1,
  PageUp: 4,
  PageDown: -4
};

/**
 * A handle below the instances of a group: it is dragged down for more and up for fewer, or moved
 * with the arrow keys.
 */
export interface ICountHandle {
  readonly element: HTMLElement;

  /**
   * Stand below a column.
   */
  show(name: string, count: number, column: IColumn): void;
}

/**
 * Make a handle.
 *
 * @param onChange - Called with the wanted count, which may be below 1 or too large.
 */
export function countHandle(onChange: (count: number) => void): ICountHandle {
  let count = 1;
  let step = LONGEST_STEP;
  let from: { readonly y: number; readonly count: number } | null = null;
  const release = (): void => {
    from = null;
  };
  // Below the picture's upper edge, so that a page that scrolls meanwhile changes nothing.
  const height = (event: PointerEvent): number =>
    event.clientY - (element.parentElement?.getBoundingClientRect().top ?? 0);
  const element: HTMLElement = h(
    'div',
    {
      class: 'smtc-handle',
      role: 'slider',
      tabindex: 0,
      'aria-orientation': 'vertical',
      'aria-valuemin': 1,
      'aria-valuemax': MAX_COUNT,
      onkeydown: (event: KeyboardEvent) => {
        const by = STEPS[event.key];
        if (by !== undefined || event.key === 'Home') {
          event.preventDefault();
          onChange(by === undefined ? 1 : count + by);
        }
      },
      onpointerdown: (event: PointerEvent) => {
        from = { y: height(event), count };
        element.setPointerCapture(event.pointerId);
        element.focus();
        event.preventDefault();
      },
      onpointermove: (event: PointerEvent) => {
        if (from !== null) {
          const drawn = element.getBoundingClientRect().width;
          const scale = drawn / element.offsetWidth || 1; // it may be drawn smaller
          const by = Math.round((height(event) - from.y) / (scale * step));
          onChange(from.count + by);
        }
      },
      onpointerup: release,
      onpointercancel: release
    },
    t('↕ drag')
  );
  return {
    element,
    show(name, shown, { x, end, boxes }): void {
      count = shown;
      step = Math.min(LONGEST_STEP, (boxes[0]?.height ?? LONGEST_STEP) + 8);
      element.setAttribute('aria-label', t('Instances of %1', name));
      element.setAttribute('aria-valuenow', String(shown));
      element.style.left = `${x}px`;
      element.style.top = `${end}px`;
      element.style.width = `${BOX_WIDTH}px`;
      element.style.height = `${HEIGHT}px`;
    }
  };
}
