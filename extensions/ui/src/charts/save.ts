import { plainText } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import type { IContent } from './content.js';
import { pngFile, svgFile, type IImage } from './image_file.js';
import { xOf, yOf, type IGeometry } from './paint.js';
import type { IPen } from './pen.js';
import type { ITick } from './plot.js';
import type { ITheme } from './theme.js';

const TITLE_PIXELS = 14;
const TEXT_PIXELS = 11;
const LINE = 20;
const SAMPLE = { width: 28, height: 12 };

/**
 * What a saved image shows.
 */
export interface IPicture {
  readonly title: string;
  readonly content: IContent;
  readonly geometry: IGeometry;
  readonly ticks: {
    readonly x: readonly ITick[];
    readonly y: readonly ITick[];
  };
  readonly theme: ITheme;

  /**
   * Size of the plot, without title and legend, in CSS pixels.
   */
  readonly width: number;
  readonly height: number;
}

/**
 * Let the browser save a figure.
 *
 * @param picture - What an image shows; null: nothing was drawn, and no image is saved.
 */
export async function saveFigure(
  kind: 'csv' | 'png' | 'svg',
  { title, content }: { readonly title: string; readonly content: IContent },
  picture: IPicture | null
): Promise<void> {
  if (kind === 'csv') {
    saveCsv(title, content.csv());
  } else if (picture !== null) {
    const size = { ...sizeOf(picture), font: picture.theme.font };
    await saveImage(kind, title, size, pen => {
      drawPicture(pen, picture);
    });
  }
}

/**
 * Let the browser save an image.
 *
 * @throws Error when the browser makes none.
 */
export async function saveImage(
  kind: 'png' | 'svg',
  title: string,
  image: IImage,
  paint: (pen: IPen) => void
): Promise<void> {
  const file =
    kind === 'svg' ? svgFile(image, paint) : await pngFile(image, paint);
  download(fileName(title, kind), file);
}

/**
 * Let the browser save a table.
 */
export function saveCsv(
  title: string,
  lines: Iterable<readonly (string | number)[]>
): void {
  const file = new Blob(Array.from(lines, csvLine), { type: 'text/csv' });
  download(fileName(title, 'csv'), file);
}

/**
 * Let the browser save a file. Nothing goes over the network.
 */
export function download(name: string, file: Blob): void {
  const url = URL.createObjectURL(file);
  h('a', { href: url, download: name }).click();
  // the browser reads it after this call
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000);
}

/**
 * Return a name for a file of a figure.
 */
export function fileName(title: string, ending: string): string {
  const name = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
  return `${name.replace(/^-|-$/g, '').slice(0, 60) || 'chart'}.${ending}`;
}

/**
 * Return a line of a CSV file.
 */
export function csvLine(values: readonly (string | number)[]): string {
  return `${values.map(csvField).join(',')}\n`;
}

function csvField(value: string | number): string {
  if (typeof value === 'number') {
    return Number.isNaN(value) ? '' : String(value);
  }
  // a spreadsheet would run a name that looks like a formula
  const plain = plainText(value);
  const text = /^[=+\-@\t]/.test(plain) ? `'${plain}` : plain;
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function headHeight(picture: IPicture): number {
  return LINE * (2 + picture.content.key().length) + 8;
}

function sizeOf(picture: IPicture): { width: number; height: number } {
  return {
    width: picture.width,
    height: headHeight(picture) + picture.height + LINE
  };
}

function drawPicture(pen: IPen, picture: IPicture): void {
  const { title, content, theme } = picture;
  const { width, height } = sizeOf(picture);
  const text = { color: theme.ink, size: TEXT_PIXELS };
  pen.boxes([{ left: 0, top: 0, width, height }], { color: theme.paper });
  pen.text(title, 8, LINE / 2 + 4, {
    ...text,
    size: TITLE_PIXELS,
    isBold: true
  });
  content.key().forEach(({ label, paint }, place) => {
    const top = LINE * (place + 1) + 8;
    paint(pen, { left: 8, top: top + 4, ...SAMPLE }, theme);
    pen.text(label, SAMPLE.width + 16, top + LINE / 2, text);
  });
  const top = headHeight(picture);
  pen.text(content.y.label, 8, top - LINE / 2, { ...text, color: theme.muted });
  const { area, x, y } = picture.geometry;
  const moved = { area: { ...area, top: area.top + top }, x, y };
  drawAxes(pen, picture, moved);
  content.paint(pen, moved, theme);
  const end = area.left + area.width;
  pen.text(content.x.label, end, height - LINE / 2, {
    ...text,
    color: theme.muted,
    align: 'end'
  });
}

function drawAxes(
  pen: IPen,
  { ticks, theme, content }: IPicture,
  geometry: IGeometry
): void {
  const { area } = geometry;
  const bottom = area.top + area.height;
  const text = { color: theme.muted, size: TEXT_PIXELS };
  const grid = { color: theme.grid };
  for (const { at, label } of ticks.x) {
    const left = xOf(geometry, at);
    pen.line(
      Float64Array.of(left, left),
      Float64Array.of(area.top, bottom),
      grid
    );
    pen.text(label, left, bottom + 12, { ...text, align: 'middle' });
  }
  for (const { at, label } of ticks.y) {
    const top = yOf(geometry, at);
    if (content.rows === null) {
      const right = area.left + area.width;
      pen.line(
        Float64Array.of(area.left, right),
        Float64Array.of(top, top),
        grid
      );
    }
    pen.text(label, area.left - 6, top, { ...text, align: 'end' });
  }
}
