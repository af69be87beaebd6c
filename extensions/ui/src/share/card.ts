import type { IComparisonInfo, IRowInfo } from '@smtc-lab/protocol';
import type { IPen } from '../charts/pen.js';
import { colorOf, shapeOf, type ITheme } from '../charts/theme.js';
import { t } from '../i18n.js';
import { cut, wrapped, type Measure } from './fit.js';

/**
 * Size of a card in CSS pixels: what chats and slides show whole.
 */
export const CARD = { width: 1200, height: 630 };

/**
 * Returns how wide texts of one size are.
 */
export type MeasureOf = (size: number, isBold: boolean) => Measure;

const EDGE = 56;
const WIDTH = CARD.width - 2 * EDGE;
const GAP = 24;
const SMALL = 20;
const TITLE = { size: 38, line: 48, top: 140, mostLines: 4 };
const NUMBERS = { top: 336, row: 64, left: 400, most: 3 };
const FOOT = { size: 18, line: 26, top: 562, mostLines: 2 };
const MOST_SET_UPS = 3;

/**
 * The rows of the table of set-ups that a card shows: the first three that are there. Mirrors
 * `smtc_lab/views/text/table.py`.
 */
const SHOWN = ['s/step', 'speed-up', 'saving per step', '$/1,000 steps'];

type Style = Parameters<IPen['text']>[3];

/**
 * Draw a comparison as a card: its sentence, three numbers of each set-up, what the numbers are,
 * and the prices. Every text is cut to its own room, so that none reaches into another.
 */
export function drawCard(
  pen: IPen,
  info: IComparisonInfo,
  theme: ITheme,
  measureOf: MeasureOf
): void {
  const card = new Card(pen, theme, measureOf);
  pen.boxes([{ left: 0, top: 0, ...CARD }], { color: theme.paper });
  drawHead(card, info);
  const style = { size: TITLE.size, isBold: true };
  card
    .lines(info.sentence, WIDTH, TITLE.mostLines, style)
    .forEach((line, place) => {
      card.text(line, EDGE, TITLE.top + place * TITLE.line, WIDTH, style);
    });
  drawNumbers(card, info);
  drawFoot(card, info);
}

/**
 * Writes texts that stay in their room.
 */
class Card {
  constructor(
    readonly pen: IPen,
    readonly theme: ITheme,
    private readonly _measureOf: MeasureOf
  ) {}

  text(
    text: string,
    left: number,
    top: number,
    width: number,
    style: Partial<Style>
  ): void {
    const { size = SMALL, isBold = false, color = this.theme.ink } = style;
    const shown = cut(text, width, this._measureOf(size, isBold));
    this.pen.text(shown, left, top, { ...style, size, isBold, color });
  }

  lines(
    text: string,
    width: number,
    mostLines: number,
    { size, isBold = false }: Pick<Style, 'isBold' | 'size'>
  ): readonly string[] {
    return wrapped(text, width, mostLines, this._measureOf(size, isBold));
  }

  width(text: string, size: number): number {
    return this._measureOf(size, false)(text);
  }
}

function drawHead(
  card: Card,
  { evidence, entryPoint, name }: IComparisonInfo
): void {
  const { muted, ink } = card.theme;
  const tag = t(evidence);
  const width = card.width(tag, SMALL) + 32;
  const left = CARD.width - EDGE - width;
  const room = WIDTH - width - GAP;
  card.text(`${entryPoint} · ${name}`, EDGE, 72, room, { color: muted });
  card.text(tag, left + 16, 72, width, {});
  const right = left + width;
  card.pen.line(
    Float64Array.of(left, right, right, left, left),
    Float64Array.of(52, 52, 92, 92, 52),
    { color: ink, width: 2 }
  );
}

function drawNumbers(card: Card, { setUps, rows }: IComparisonInfo): void {
  const { pen, theme } = card;
  const { top, row, left, most } = NUMBERS;
  const shown = SHOWN.map(label => rows.find(each => each.label === label))
    .filter(each => each !== undefined)
    .slice(0, most);
  const room = (CARD.width - EDGE - left) / most;
  shown.forEach(({ label }, column) => {
    const at = left + column * room;
    card.text(label, at, top, room - GAP, { color: theme.muted });
  });
  const few = setUps.slice(0, MOST_SET_UPS);
  few.forEach(({ label }, place) => {
    const middle = top + 46 + place * row;
    pen.marks(
      Float64Array.of(EDGE + 12),
      Float64Array.of(middle),
      { shape: shapeOf(place), radius: 11, isHollow: false },
      { color: colorOf(theme, place) }
    );
    card.text(label, EDGE + 36, middle, left - EDGE - 36 - GAP, { size: 26 });
    shown.forEach((given, column) => {
      drawNumber(card, numberOf(given, place), {
        left: left + column * room,
        middle,
        width: room - GAP
      });
    });
  });
}

/**
 * Draw a number, and its interval below it in smaller letters.
 */
function drawNumber(
  card: Card,
  words: string,
  at: { readonly left: number; readonly middle: number; readonly width: number }
): void {
  const begin = words.indexOf(' (');
  const mean = begin < 0 ? words : words.slice(0, begin);
  card.text(mean, at.left, at.middle, at.width, {
    size: 28,
    isBold: begin >= 0
  });
  if (begin >= 0) {
    const interval = words.slice(begin + 1);
    card.text(interval, at.left, at.middle + 27, at.width, {
      size: 16,
      color: card.theme.muted
    });
  }
}

function drawFoot(card: Card, info: IComparisonInfo): void {
  const { muted } = card.theme;
  const more = info.setUps.length - MOST_SET_UPS;
  const told = [
    ...(more > 0 ? [t('and %1 more', more)] : []),
    ...info.notes.filter(note => /^prices/i.test(note)),
    ...(info.scale === '' ? [] : [info.scale])
  ].join(' · ');
  const maker = 'smtc_lab';
  const width = card.width(maker, FOOT.size);
  const style = { size: FOOT.size, color: muted };
  const room = WIDTH - width - GAP;
  card.lines(told, room, FOOT.mostLines, style).forEach((line, place) => {
    card.text(line, EDGE, FOOT.top + place * FOOT.line, room, style);
  });
  const bottom = FOOT.top + (FOOT.mostLines - 1) * FOOT.line;
  card.text(maker, CARD.width - EDGE - width, bottom, width + 1, style);
}

function numberOf({ cells }: IRowInfo, place: number): string {
  return cells[place]?.[0] ?? t('unknown');
}
