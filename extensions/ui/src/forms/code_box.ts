import { Component, type IComponent } from './component.js';
import { button, copied, h } from '../dom.js';
import { t } from '../i18n.js';
import { INSERT_EVENT, type IInsertDetail } from './insert_event.js';

/**
 * Lines of code that do what a form does.
 */
export interface ICodeBoxProps {
  readonly code: string;
}

/**
 * Make a box that shows code, copies it, and puts it into a cell where the page allows that.
 */
export function codeBox(
  host: HTMLElement,
  props: ICodeBoxProps
): IComponent<ICodeBoxProps> {
  return new CodeBox(host, props);
}

class CodeBox extends Component<ICodeBoxProps> {
  constructor(host: HTMLElement, props: ICodeBoxProps) {
    super(props);
    const copy = button(t('Copy as code'), () => void this._onCopy());
    const insert = button(t('Insert cell'), () => void this._onInsert());
    this.element = h(
      'div',
      { class: 'smtc-code' },
      h(
        'pre',
        { tabindex: 0, role: 'region', 'aria-label': t('Code') },
        this._text
      ),
      h('div', { class: 'smtc-row' }, copy, insert, this._status)
    );
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    if (this._text.textContent !== this.props.code) {
      this._text.textContent = this.props.code;
      this._status.textContent = '';
    }
  }

  private async _onCopy(): Promise<void> {
    this._say(t('Copied.'), await copied(this.props.code, this._text));
  }

  private async _onInsert(): Promise<void> {
    const event = new CustomEvent<IInsertDetail>(INSERT_EVENT, {
      bubbles: true,
      cancelable: true,
      composed: true,
      detail: { code: this.props.code }
    });
    if (this.element.dispatchEvent(event)) {
      this._say(
        t(
          'This page does not let a widget insert cells. The code was copied: paste it into one.'
        ),
        await copied(this.props.code, this._text)
      );
    } else {
      this._say(t('Inserted.'), true);
    }
  }

  private _say(done: string, isCopied: boolean): void {
    this._status.textContent = isCopied
      ? done
      : t('This page may not copy. The code is selected: press Ctrl+C.');
  }

  private readonly _text = h('code');
  private readonly _status = h('span', { class: 'smtc-note', role: 'status' });
}
