import type { IBox, IPen } from '../../charts/pen.js';
import { saveImage } from '../../charts/save.js';
import { readColors, readTheme, type ITheme } from '../../charts/theme.js';
import { format } from '../../charts/units.js';
import { t } from '../../i18n.js';
import { letterOf } from '../../picture/set_up_mark.js';
import { causesOf, waitingWords, type IBar } from './bars.js';
import { CAUSES, type ICause, type Part } from './causes.js';

const WIDTH = 640;
const LINE = 20;
const ROW = 48;
const LEFT = 8;
const BAR = { left: 32, width: 500, height: 18 };
const SAMPLE = { width: 18, height: 12 };
const TEXT = 11;

/**
 * What an image file shows.
 */
interface IMoneyImage {
  readonly title: string;
  readonly subtitle: string;
  readonly bars: readonly IBar[];
  readonly theme: ITheme;
  readonly parts: Readonly<Record<Part, string>>;
}

/**
 * Let the browser save bars as an image, in the colours that an element has now.
 *
 * @throws Error when the browser makes none.
 */
export async function saveMoney(
  kind: 'png' | 'svg',
  element: Element,
  shown: Pick<IMoneyImage, 'title' | 'subtitle' | 'bars'>
): Promise<void> {
  const parts = readColors(element, color => ({
    dev: color('part-dev'),
    cpu: color('part-cpu'),
    net: color('part-net'),
    all: color('muted')
  }));
  const image = { ...shown, theme: readTheme(element), parts };
  const size = { width: WIDTH, height: heightOf(image) };
  await saveImage(
    kind,
    shown.title,
    { ...size, font: image.theme.font },
    pen => {
      paint(pen, image);
    }
  );
}

function heightOf(image: IMoneyImage): number {
  return LINE * (3 + causesOf(image.bars).length) + ROW * image.bars.length;
}

function paint(pen: IPen, image: IMoneyImage): void {
  const { title, subtitle, bars, theme } = image;
  const text = { color: theme.ink, size: TEXT };
  const soft = { color: theme.muted, size: TEXT };
  const whole = { left: 0, top: 0, width: WIDTH, height: heightOf(image) };
  pen.boxes([whole], { color: theme.paper });
  pen.text(title, LEFT, LINE / 2 + 4, { ...text, size: 14, isBold: true });
  pen.text(subtitle, LEFT, 1.5 * LINE + 4, soft);
  const most = Math.max(...bars.map(({ usd }) => usd)) || 1;
  bars.forEach((bar, row) => {
    const top = 2.5 * LINE + row * ROW;
    let left = BAR.left;
    pen.text(letterOf(bar.place), LEFT, top + BAR.height / 2, text);
    for (const { cause, usd } of bar.parts) {
      const width = (BAR.width * usd) / most;
      fill(pen, { ...BAR, left, top, width }, CAUSES[cause], image);
      left += width;
    }
    const total = bar.parts.length > 0 ? format(bar.usd, 'USD') : '';
    pen.text(total, left + 6, top + BAR.height / 2, { ...text, isBold: true });
    const words = `${bar.label}: ${waitingWords(bar)}`;
    pen.text(words, BAR.left, top + BAR.height + 10, soft);
  });
  causesOf(bars).forEach((cause, place) => {
    const top = LINE * (2.5 + place) + ROW * bars.length;
    fill(pen, { ...SAMPLE, left: BAR.left, top }, CAUSES[cause], image);
    const words = t(CAUSES[cause].words);
    pen.text(words, BAR.left + SAMPLE.width + 8, top + TEXT / 2, text);
  });
}

/**
 * Fill a box as its cause is: lines stand for waiting.
 */
function fill(
  pen: IPen,
  box: IBox,
  { part, filling }: ICause,
  { parts }: IMoneyImage
): void {
  const ink = { color: parts[part], width: 1 };
  const { left, top, width, height } = box;
  if (filling === 'full') {
    pen.boxes([box], ink);
    return;
  }
  const right = left + width;
  const bottom = top + height;
  pen.line(
    Float64Array.of(left, right, right, left, left),
    Float64Array.of(top, top, bottom, bottom, top),
    ink
  );
  if (filling === 'open') {
    return;
  }
  const step = filling === 'hatched' ? 6 : 10;
  pen.within(box, () => {
    for (let at = left - height; at < right; at += step) {
      const ends = Float64Array.of(at, at + height);
      const slope = filling === 'hatched' ? [bottom, top] : [top, bottom];
      pen.line(ends, Float64Array.from(slope), { ...ink, width: 2 });
    }
  });
}
