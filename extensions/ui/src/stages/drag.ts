/**
 * What is told of a module that is dragged.
 */
export interface IDragged {
  /**
   * It is taken up.
   */
  begin(box: HTMLElement): void;

  /**
   * It is over the stage before its own (-1), its own (0), or the next one (1).
   */
  over(by: -1 | 0 | 1): void;

  /**
   * It is let go where it is, or goes back.
   */
  end(isDropped: boolean): void;

  /**
   * It was pressed, and let go over its own stage.
   */
  open(box: HTMLElement): void;
}

/**
 * Let modules be dragged sideways, by a mouse, a pen or a finger; up and down a finger scrolls.
 *
 * @param root - Holds all of them; they have `data-module`, and stages are `.smtc-stage`.
 */
export function letDrag(root: HTMLElement, told: IDragged): void {
  let own: Element | null = null;
  let pressed: HTMLElement | null = null;
  let at: -1 | 0 | 1 = 0;
  const end = (isDropped: boolean): void => {
    pressed = isDropped ? pressed : null;
    if (own !== null) {
      own = null;
      told.end(isDropped);
    }
  };
  root.addEventListener('pointerdown', event => {
    const box = (event.target as Element).closest<HTMLElement>('[data-module]');
    if (box !== null && event.button === 0 && own === null) {
      own = box.closest('.smtc-stage');
      at = 0;
      // the box itself may move to another place of the page, which would let the pointer go
      root.setPointerCapture(event.pointerId);
      pressed = box;
      told.begin(box);
    }
  });
  root.addEventListener('pointermove', ({ clientX }) => {
    if (own === null) {
      return;
    }
    const { left, right } = own.getBoundingClientRect();
    const by = clientX < left ? -1 : clientX > right ? 1 : 0;
    if (by !== at) {
      at = by;
      pressed = null;
      told.over(by);
    }
  });
  root.addEventListener('pointerup', () => {
    end(true);
    if (pressed !== null) {
      told.open(pressed);
      pressed = null;
    }
  });
  root.addEventListener('pointercancel', () => {
    end(false);
  });
  root.addEventListener('keydown', event => {
    if (event.key === 'Escape' && own !== null) {
      event.preventDefault();
      end(false);
    }
  });
}
