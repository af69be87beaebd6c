/**
 * What keys ask for on the module that has the focus.
 */
export interface IKeyed {
  /**
   * The module beside it in its stage.
   */
  focus(box: HTMLElement, by: -1 | 1): void;

  /**
   * The first or last module of its stage.
   */
  focusEnd(box: HTMLElement, isLast: boolean): void;

  /**
   * To the stage before (-1) or the next one (1); the way back leads to where it was.
   */
  move(box: HTMLElement, by: -1 | 1): void;

  /**
   * What is folded into it, or fold it again.
   */
  open(box: HTMLElement): void;

  undo(): void;

  redo(): void;
}

/**
 * Let modules be moved by keys.
 *
 * @param root - Holds all of them; they have `data-module`.
 */
export function letMoveByKeys(root: HTMLElement, told: IKeyed): void {
  root.addEventListener('keydown', event => {
    const target = event.target as HTMLElement;
    const does =
      target.dataset['module'] === undefined
        ? null
        : actionOf(event, target, told);
    if (does !== null) {
      event.preventDefault();
      does();
    }
  });
}

function actionOf(
  event: KeyboardEvent,
  box: HTMLElement,
  told: IKeyed
): (() => void) | null {
  if (event.altKey) {
    return null;
  }
  if (event.ctrlKey || event.metaKey) {
    return historyOf(event, told);
  }
  const actions: Readonly<Record<string, () => void>> = {
    ArrowUp: () => {
      told.focus(box, -1);
    },
    ArrowDown: () => {
      told.focus(box, 1);
    },
    ArrowLeft: () => {
      told.move(box, -1);
    },
    ArrowRight: () => {
      told.move(box, 1);
    },
    Enter: () => {
      told.open(box);
    },
    ' ': () => {
      told.open(box);
    },
    Home: () => {
      told.focusEnd(box, false);
    },
    End: () => {
      told.focusEnd(box, true);
    }
  };
  return actions[event.key] ?? null;
}

function historyOf(
  { key, shiftKey }: KeyboardEvent,
  told: IKeyed
): (() => void) | null {
  const letter = key.toLowerCase();
  const isRedo = letter === 'y' || (letter === 'z' && shiftKey);
  if (isRedo) {
    return () => {
      told.redo();
    };
  }
  return letter === 'z'
    ? () => {
        told.undo();
      }
    : null;
}
