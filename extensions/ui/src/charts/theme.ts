import type { Shape } from './pen.js';

/**
 * Colours and letters of charts, as the page has them now.
 */
export interface ITheme {
  readonly ink: string;
  readonly muted: string;
  readonly paper: string;
  readonly grid: string;
  readonly shade: string;

  /**
   * Family of all texts.
   */
  readonly font: string;

  /**
   * The palette; a place beyond its end begins again.
   */
  readonly colors: readonly string[];
}

const NUM_COLORS = 5;
const ATTRIBUTES = [
  'class',
  'data-jp-theme-light',
  'data-jp-theme-name',
  'data-vscode-theme-id',
  'data-vscode-theme-kind',
  'style'
];

/**
 * Read the theme that holds for an element; `styles/tokens.css` makes it.
 */
export function readTheme(element: Element): ITheme {
  return readColors(element, color => ({
    ink: color('ink'),
    muted: color('muted'),
    paper: color('paper'),
    grid: color('grid'),
    shade: color('shade'),
    font: getComputedStyle(element).fontFamily || 'sans-serif',
    colors: Array.from({ length: NUM_COLORS }, (_, place) =>
      color(`color-${place}`)
    )
  }));
}

/**
 * Read colours that hold for an element, by the names of their tokens.
 */
export function readColors<T>(
  element: Element,
  read: (color: (token: string) => string) => T
): T {
  // a token is read as it was written; only a colour that is used tells what comes of it
  const probe = document.createElement('span');
  element.append(probe);
  const found = read(token => {
    probe.style.color = `var(--smtc-${token})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return found;
}

/**
 * Return a colour of the palette, as style sheets call it.
 */
export function paletteColor(place: number): string {
  return `var(--smtc-color-${place % NUM_COLORS})`;
}

/**
 * Return a colour of the palette.
 */
export function colorOf({ colors }: ITheme, place: number): string {
  return colors[place % colors.length] as string;
}

/**
 * Call back when the theme of the page changes: that of the host, of the system, or its
 * contrast.
 *
 * @returns What to call to be left alone.
 */
export function watchTheme(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributeFilter: ATTRIBUTES });
  }
  const queries = ['(prefers-color-scheme: dark)', '(forced-colors: active)']
    // a page without a window manager, as in tests, has none
    .map(query => (window.matchMedia as typeof matchMedia | undefined)?.(query))
    .filter(query => query !== undefined);
  for (const query of queries) {
    query.addEventListener('change', listener);
  }
  return () => {
    observer.disconnect();
    for (const query of queries) {
      query.removeEventListener('change', listener);
    }
  };
}

const SHAPES: readonly Shape[] = [
  'circle',
  'square',
  'triangle',
  'diamond',
  'cross'
];

/**
 * Return the shape of what has a place in the palette, for those who do not tell its colour.
 */
export function shapeOf(place: number): Shape {
  return SHAPES[place % SHAPES.length] as Shape;
}
