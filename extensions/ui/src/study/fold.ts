import type { IComparisonInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import type { IPart } from '../monitor/part.js';

/**
 * What folds of a page the user has opened or shut, by study and title; another view of the same
 * study finds them so.
 */
const OPENED = new Map<string, boolean>();

/**
 * A piece of a study that is folded away at first, and drawn only once it is unfolded.
 */
export interface IFolded {
  readonly title: string;

  /**
   * A few words on what is inside.
   */
  readonly words: (info: IComparisonInfo) => string;

  /**
   * Whether there is anything inside.
   */
  readonly isThere: (info: IComparisonInfo) => boolean;
  readonly part: IPart<IComparisonInfo>;

  /**
   * What is written down although it is folded, so that a search of the page finds it.
   */
  readonly text?: IPart<IComparisonInfo>;
}

/**
 * Fold a piece of a study away.
 */
export function fold({
  title,
  words,
  isThere,
  part,
  text
}: IFolded): Required<IPart<IComparisonInfo>> {
  let shown: IComparisonInfo | null = null;
  const inside = h('span', { class: 'smtc-soft' });
  const element = h(
    'details',
    {
      class: 'smtc-section smtc-fold',
      ontoggle: () => {
        if (shown !== null) {
          OPENED.set(`${shown.name}/${title}`, element.open);
          draw(shown);
        }
      }
    },
    h('summary', {}, title, ' ', inside),
    h(
      'div',
      { class: 'smtc-section-body' },
      text?.element ?? null,
      part.element
    )
  );
  const draw = (info: IComparisonInfo): void => {
    if (element.open && !element.hidden) {
      part.update(info);
    }
  };
  return {
    element,
    update(info) {
      if (shown?.name !== info.name) {
        element.open = OPENED.get(`${info.name}/${title}`) ?? false;
      }
      shown = info;
      element.hidden = !isThere(info);
      inside.textContent = words(info);
      text?.update(info);
      draw(info);
    },
    dispose() {
      shown = null; // a browser tells later that it was opened
      part.dispose?.();
    }
  };
}
