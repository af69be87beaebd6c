import type { ITool } from './toolbar.js';
import { t } from '../i18n.js';

/**
 * What the tools of a figure work on.
 */
export interface ITooled {
  readonly isZoomed: boolean;
  readonly isPaused: boolean;
  readonly isEnded: boolean;
  readonly isTable: boolean;
  zoomBy(factor: number): void;
  panBy(share: number): void;
  reset(): void;
  togglePause(): void;
  toggleTable(): void;
  save(kind: 'csv' | 'png' | 'svg'): Promise<void>;
}

const STEP = 0.5;

/**
 * Return the buttons of a figure.
 */
export function toolsOf(figure: ITooled): ITool[] {
  const isWhole = (): boolean => !figure.isZoomed;
  return [
    {
      name: t('Zoom in'),
      sign: '+',
      act: () => {
        figure.zoomBy(STEP);
      }
    },
    {
      name: t('Zoom out'),
      sign: '−',
      act: () => {
        figure.zoomBy(1 / STEP);
      },
      isOff: isWhole
    },
    {
      name: t('Move left'),
      sign: '‹',
      act: () => {
        figure.panBy(-STEP);
      },
      isOff: isWhole
    },
    {
      name: t('Move right'),
      sign: '›',
      act: () => {
        figure.panBy(STEP);
      },
      isOff: isWhole
    },
    {
      name: t('Show all and follow the end'),
      sign: t('All'),
      act: () => {
        figure.reset();
      },
      isOff: isWhole
    },
    {
      name: t('Pause'),
      sign: t('Pause'),
      act: () => {
        figure.togglePause();
      },
      isPressed: () => figure.isPaused,
      isHidden: () => figure.isEnded
    },
    // there is no picture while the table is shown
    ...keepingTools(figure, () => !figure.isTable)
  ];
}

/**
 * Return the buttons that show a figure as a table, and save it.
 *
 * @param hasPicture - Whether an image can be saved now.
 */
export function keepingTools(
  figure: Pick<ITooled, 'isTable' | 'toggleTable' | 'save'>,
  hasPicture: () => boolean
): ITool[] {
  let isSaving = false;
  const save = (kind: 'csv' | 'png' | 'svg'): ITool => ({
    name: t('Save as %1', kind.toUpperCase()),
    sign: kind.toUpperCase(),
    act: () => {
      void figure.save(kind);
    },
    isHidden: () => !isSaving || (kind !== 'csv' && !hasPicture())
  });
  return [
    {
      name: t('Show as a table'),
      sign: t('Table'),
      act: () => {
        figure.toggleTable();
      },
      isPressed: () => figure.isTable
    },
    {
      name: t('Save as PNG, SVG or CSV'),
      sign: t('Save'),
      act: () => {
        isSaving = !isSaving;
      },
      isPressed: () => isSaving
    },
    save('png'),
    save('svg'),
    save('csv')
  ];
}
