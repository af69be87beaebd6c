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
   * The palette of set-ups; a place beyond its end begins again.
   */
  readonly colors: readonly string[];

  /**
   * The palettes of the parts of a cluster, in the order of {@link partColor}.
   */
  readonly parts: readonly (readonly string[])[];
}

const NUM_COLORS = 5;
const NUM_SHADES = 3;
const FIRST_PART = 1000;
const PARTS = ['cpu', 'dev', 'net'] as const;
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
    ),
    parts: PARTS.map(part =>
      Array.from({ length: NUM_SHADES }, (_, place) =>
        color(tokenOf(part, place))
      )
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
    // a forced colour lets nothing through, and curves lie under a shade
    probe.style.forcedColorAdjust = token === 'shade' ? 'none' : 'auto';
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
  const part = PARTS[Math.floor(place / FIRST_PART) - 1];
  const token =
    part === undefined
      ? `color-${place % NUM_COLORS}`
      : tokenOf(part, place % FIRST_PART);
  return `var(--smtc-${token})`;
}

/**
 * Return the place in the palette of a part of a cluster, which no set-up has.
 *
 * @param number - Of the instance or of its group, from 0.
 */
export function partColor(
  part: (typeof PARTS)[number],
  number: number
): number {
  return FIRST_PART * (PARTS.indexOf(part) + 1) + number;
}

/**
 * Return the palettes of the parts, as style sheets call them.
 */
export function partPalettes(): readonly (readonly string[])[] {
  return PARTS.map(part =>
    Array.from({ length: NUM_SHADES }, (_, place) =>
      paletteColor(partColor(part, place))
    )
  );
}

function tokenOf(part: string, number: number): string {
  const shade = number % NUM_SHADES;
  return shade === 0 ? `part-${part}` : `part-${part}-${shade}`;
}

/**
 * Return a colour of the palette.
 */
export function colorOf({ colors, parts }: ITheme, place: number): string {
  const palette = parts[Math.floor(place / FIRST_PART) - 1] ?? colors;
  return palette[(place % FIRST_PART) % palette.length] as string;
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
  return SHAPES[(place % FIRST_PART) % SHAPES.length] as Shape;
}
