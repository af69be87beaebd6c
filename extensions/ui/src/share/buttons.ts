import type { IComparisonInfo } from '@smtc-lab/protocol';
import { pngFile } from '../charts/image_file.js';
import { download, fileName } from '../charts/save.js';
import { readTheme } from '../charts/theme.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel } from '../model.js';
import type { IPart } from '../monitor/part.js';
import { CARD, drawCard } from './card.js';

const PNG = 'image/png';

/**
 * Offers a comparison as a picture for a chat or a slide, once it has numbers: copied, or saved
 * as a file. It is drawn in the browser, in the colours of the page.
 */
export function shareButtons(model: IModel): IPart<IComparisonInfo> {
  const said = h('span', { role: 'status', class: 'smtc-note' });
  const element = h('div', { class: 'smtc-row' });
  let shown: IComparisonInfo | null = null;
  const tell = (words: string): void => {
    said.textContent = words;
  };
  const copy = async (info: IComparisonInfo): Promise<void> => {
    try {
      // given as a promise: Safari takes it only while the click is handled
      const item = new ClipboardItem({ [PNG]: pictureOf(info, element) });
      await navigator.clipboard.write([item]);
      tell(t('The picture is copied.'));
    } catch {
      tell(t('The picture cannot be copied here. Save it instead.'));
    }
  };
  const save = async (info: IComparisonInfo): Promise<void> => {
    try {
      const file = await pictureOf(info, element);
      download(fileName(info.name, 'png'), file);
      tell('');
    } catch {
      tell(
        t('This browser makes no picture. Save the numbers as JSON instead.')
      );
    }
  };
  const doing = (act: (info: IComparisonInfo) => Promise<void>) => (): void => {
    if (shown !== null) {
      void act(shown);
    }
  };
  return {
    element,
    update(info) {
      shown = info;
      const result = model.get('result');
      const hasNumbers = typeof result === 'string' && result !== '';
      if (element.childElementCount === 0 && hasNumbers) {
        element.append(
          button(t('Copy picture'), doing(copy)),
          button(t('Save picture'), doing(save)),
          said
        );
      }
    }
  };
}

/**
 * Return a comparison as a PNG file.
 *
 * @param element - Where it is shown: the picture has the colours and letters of that place.
 * @throws Error when the browser does not make one.
 */
async function pictureOf(
  info: IComparisonInfo,
  element: Element
): Promise<Blob> {
  const theme = readTheme(element);
  const { font } = theme;
  return pngFile({ ...CARD, font }, (pen, context) => {
    drawCard(pen, info, theme, (size, isBold) => text => {
      context.font = `${isBold ? '600 ' : ''}${size}px ${font}`;
      return context.measureText(text).width;
    });
  });
}
