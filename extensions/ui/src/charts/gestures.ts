import { mark } from '../i18n.js';
const CLICK_PIXELS = 4;
const WHEEL_STRENGTH = 0.0015;
const KEY_ZOOM = 0.5;
const KEY_PAN = 0.25;

/**
 * What a hand can do with a figure.
 */
export interface IActions {
  /**
   * Zoom by a factor, below 1 for more detail, around a place.
   *
   * @param left - The place, in CSS pixels from the left of the stage; undefined: the middle.
   */
  zoomBy(factor: number, left?: number): void;

  /**
   * Zoom to what lies between two places.
   */
  zoomTo(left: number, right: number): void;

  /**
   * Move by a share of what is seen.
   */
  panBy(share: number): void;

  /**
   * Move by pixels.
   */
  drag(pixels: number): void;

  reset(): void;
  togglePause(): void;

  /**
   * Show the values at a place; null: show none.
   */
  point(left: number | null): void;

  /**
   * Show the values of the next row, or of the first or the last one.
   */
  step(to: 1 | -1 | 'first' | 'last'): void;

  /**
   * Show what is being selected; null: nothing.
   */
  select(part: { readonly left: number; readonly width: number } | null): void;
}

/**
 * What the keys do, for those who cannot see it.
 */
export const KEYS = mark(
  'Keys: plus and minus zoom, left and right move, 0 shows all, space pauses. ' +
    'Shift with left and right reads out row after row, Home and End the first and the last, ' +
    'Escape ends it.'
);

/**
 * Let mouse, finger, pen, wheel and keys act.
 *
 * @param stage - Element that can have the focus.
 */
export function listen(stage: HTMLElement, actions: IActions): void {
  listenToPointer(stage, actions);
  stage.addEventListener(
    'wheel',
    event => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault(); // the page would zoom
        actions.zoomBy(
          Math.exp(event.deltaY * WHEEL_STRENGTH),
          leftOf(stage, event)
        );
      }
    },
    { passive: false }
  );
  stage.addEventListener('dblclick', () => {
    actions.reset();
  });
  stage.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const action = (event.shiftKey ? SHIFT_KEYS : PLAIN_KEYS)[event.key];
    if (action !== undefined) {
      event.preventDefault();
      action(actions);
    }
  });
}

type Action = (actions: IActions) => void;

const ZOOM_IN: Action = actions => {
  actions.zoomBy(KEY_ZOOM);
};
const PLAIN_KEYS: Readonly<Record<string, Action>> = {
  '+': ZOOM_IN,
  '=': ZOOM_IN,
  '-': actions => {
    actions.zoomBy(1 / KEY_ZOOM);
  },
  ArrowLeft: actions => {
    actions.panBy(-KEY_PAN);
  },
  ArrowRight: actions => {
    actions.panBy(KEY_PAN);
  },
  '0': actions => {
    actions.reset();
  },
  ' ': actions => {
    actions.togglePause();
  },
  Home: actions => {
    actions.step('first');
  },
  End: actions => {
    actions.step('last');
  },
  Escape: actions => {
    actions.point(null);
  }
};
const SHIFT_KEYS: Readonly<Record<string, Action>> = {
  '+': ZOOM_IN, // on many keyboards plus is shift and another key
  ArrowLeft: actions => {
    actions.step(-1);
  },
  ArrowRight: actions => {
    actions.step(1);
  }
};

function listenToPointer(stage: HTMLElement, actions: IActions): void {
  let begin: number | null = null;
  let last = 0;
  let isPan = false;
  stage.addEventListener('pointerdown', event => {
    if (event.button === 0) {
      begin = last = leftOf(stage, event);
      isPan = event.shiftKey;
      stage.setPointerCapture(event.pointerId);
    }
  });
  stage.addEventListener('pointermove', event => {
    const left = leftOf(stage, event);
    if (begin === null) {
      actions.point(left);
    } else if (isPan) {
      actions.drag(last - left);
    } else {
      actions.select({
        left: Math.min(begin, left),
        width: Math.abs(left - begin)
      });
    }
    last = left;
  });
  const end = (event: PointerEvent): void => {
    const isSelected = begin !== null && !isPan && event.type === 'pointerup';
    const from = begin ?? 0;
    begin = null;
    actions.select(null);
    if (isSelected && Math.abs(last - from) > CLICK_PIXELS) {
      actions.zoomTo(Math.min(from, last), Math.max(from, last));
    }
  };
  stage.addEventListener('pointerup', end);
  stage.addEventListener('pointercancel', end);
  stage.addEventListener('pointerleave', () => {
    actions.point(null);
  });
}

function leftOf(stage: HTMLElement, event: MouseEvent): number {
  return event.clientX - stage.getBoundingClientRect().left;
}
