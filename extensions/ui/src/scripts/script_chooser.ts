import { plainText, type IScripts } from '@smtc-lab/protocol';
import { bounded } from '../bounded.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import { listOf, scriptList, type IOffer } from './script_list.js';

/**
 * What the user wants of the chooser.
 */
export interface IScriptOrders {
  /**
   * A script was chosen.
   */
  readonly onChoose: (path: string) => void;

  /**
   * A cell was chosen, which is to become a file.
   */
  readonly onCell: (cell: number) => void;

  /**
   * A folder is to be looked into.
   */
  readonly onFolder: (path: string) => void;
}

/**
 * All scripts at hand: those used last, examples, the notebook's cells, and the files of a folder.
 */
export class ScriptChooser {
  constructor(private readonly _orders: IScriptOrders) {}

  readonly element = h('div', {
    class: 'smtc-scripts',
    role: 'group',
    'aria-label': t('Scripts at hand')
  });

  /**
   * Show what there is to choose.
   */
  show({ recent, examples, cells, folder, saved }: IScripts): void {
    const { onChoose, onCell } = this._orders;
    const offers = (from: IScripts['recent']): readonly IOffer[] =>
      from.map(({ label, path, about }) => ({
        label,
        about,
        choose: () => {
          onChoose(path);
        }
      }));
    const ofCells = cells.map(({ number, about }) => ({
      label: t('Cell [%1]', number),
      about,
      choose: () => {
        onCell(number);
      }
    }));
    const problem = saved?.problem ?? '';
    const hadFocus = this.element.contains(document.activeElement);
    const parts = [
      problem === ''
        ? null
        : h('p', { class: 'smtc-problem', role: 'alert' }, ...bounded(problem)),
      scriptList(t('Used last'), offers(recent)),
      scriptList(t('Cells of this notebook'), ofCells),
      scriptList(t('Examples'), offers(examples)),
      folder === null
        ? h('p', { class: 'smtc-note', role: 'status' }, t('Looking …'))
        : this._folder(folder)
    ];
    this.element.replaceChildren(...parts.filter(part => part !== null));
    if (hadFocus) {
      this.element.querySelector<HTMLElement>('.smtc-folder')?.focus();
    }
  }

  private _folder(folder: NonNullable<IScripts['folder']>): HTMLElement {
    const { onChoose, onFolder } = this._orders;
    const { parent, folders, files, isCut, problem } = folder;
    const path = plainText(folder.path);
    const within = (name: string): string =>
      folder.path.endsWith('/') ? folder.path + name : `${folder.path}/${name}`;
    const up = button(
      t('Folder above'),
      () => {
        onFolder(parent ?? folder.path);
      },
      { disabled: parent === null }
    );
    const offers = [
      ...folders.map(name => ({
        label: `${name}/`,
        about: '',
        choose: () => {
          onFolder(within(name));
        }
      })),
      ...files.map(name => ({
        label: name,
        about: '',
        choose: () => {
          onChoose(within(name));
        }
      }))
    ];
    return h(
      'div',
      {
        role: 'group',
        class: 'smtc-folder',
        tabindex: -1,
        'aria-label': t('Files in %1', path)
      },
      h('p', { class: 'smtc-soft' }, t('Files in %1', path)),
      h('div', { class: 'smtc-row' }, up),
      listOf(offers),
      h(
        'p',
        { class: problem === '' ? 'smtc-note' : 'smtc-problem' },
        ...bounded(
          problem !== ''
            ? problem
            : isCut
              ? t('There is more in it. Type the path above.')
              : offers.length === 0
                ? t('No folder and no Python file is in it.')
                : ''
        )
      )
    );
  }
}
