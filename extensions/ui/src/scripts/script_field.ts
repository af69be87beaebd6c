import { parseScripts, type IScripts } from '@smtc-lab/protocol';
import { button, h, newId } from '../dom.js';
import { t } from '../i18n.js';
import { Field } from '../forms/field.js';
import { ScriptChooser } from './script_chooser.js';

/**
 * The path of the training script: typed, or chosen among those at hand.
 */
export class ScriptField {
  /**
   * @param onScript - Called with another script, typed or chosen.
   * @param send - Asks the model for the scripts at hand.
   */
  constructor(
    private readonly _onScript: (path: string) => void,
    private readonly _send: (message: unknown) => void
  ) {
    this._chooser.element.id = newId();
    this._choose.setAttribute('aria-controls', this._chooser.element.id);
    this.element = h(
      'div',
      {
        onkeydown: (event: KeyboardEvent) => {
          if (event.key === 'Escape' && this._isOpen) {
            event.stopPropagation();
            this._setOpen(false);
            this._choose.focus();
          }
        }
      },
      this._field.element,
      h('div', { class: 'smtc-row' }, this._choose),
      this._chooser.element
    );
    this._setOpen(false);
  }

  readonly element: HTMLElement;

  /**
   * Show the script that is typed or chosen.
   */
  show(path: string): void {
    if (this._field.control.value !== path) {
      this._field.control.value = path;
      this._showEnd();
    }
  }

  /**
   * Show the scripts at hand, as the model tells them; undefined: nobody asked yet.
   */
  offer(told: unknown): void {
    this._latest = parseScripts(told);
    const { saved } = this._latest;
    if (saved !== null && saved.number === this._cell && saved.path !== '') {
      this._take(saved.path);
    } else if (this._isOpen) {
      this._show();
    }
  }

  /**
   * Show the end of a path that does not fit: the name of the script.
   */
  private _showEnd(): void {
    // a browser goes back to the begin as the field loses the focus
    requestAnimationFrame(() => {
      const { control } = this._field;
      control.scrollLeft = control.scrollWidth;
    });
  }

  private _take(path: string): void {
    this._setOpen(false);
    this._choose.focus();
    this.show(path);
    this._onScript(path);
  }

  private _setOpen(isOpen: boolean): void {
    this._isOpen = isOpen;
    this._cell = null;
    this._chooser.element.hidden = !isOpen;
    this._choose.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) {
      // a model that finds the same again tells nothing
      this._show();
      this._look('');
    }
  }

  private _look(folder: string): void {
    this._send({ type: 'scripts', folder });
  }

  private _show(): void {
    this._chooser.show(
      this._cell === null ? { ...this._latest, saved: null } : this._latest
    );
  }

  private readonly _field = new Field(
    t('Training script'),
    h('input', {
      type: 'text',
      spellcheck: 'false',
      size: 40,
      onblur: () => {
        this._showEnd();
      },
      oninput: () => {
        this._onScript(this._field.control.value);
      }
    })
  );
  private readonly _choose = button(t('Choose …'), () => {
    this._setOpen(!this._isOpen);
  });
  private readonly _chooser = new ScriptChooser({
    onChoose: path => {
      this._take(path);
    },
    onCell: cell => {
      this._cell = cell;
      this._send({ type: 'cell-script', cell });
    },
    onFolder: path => {
      this._look(path);
    }
  });
  private _latest: IScripts = parseScripts(undefined);
  private _isOpen = false;
  private _cell: number | null = null;
}
