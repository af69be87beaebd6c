import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { keyOf, type Kind } from '../connection/row.js';
import { runsIcon } from '../icon.js';
import { kindCaption } from '../kind_words.js';
import type { Texts } from '../texts.js';
import type { IStream } from '../tokens.js';
import { DashboardContent } from './content.js';

/**
 * A run or a study in the main area.
 */
export class Dashboard extends Widget {
  constructor(
    private readonly _stream: IStream,
    readonly name: string,
    readonly kind: Kind,
    private readonly _texts: Texts
  ) {
    super();
    this.id = `smtc-lab:${keyOf(this)}`;
    this.addClass('jp-Smtc-main');
    this.title.label = name;
    this.title.caption = kindCaption(kind, name, _texts);
    this.title.icon = runsIcon;
    this.title.closable = true;
    this.node.tabIndex = -1;
  }

  override dispose(): void {
    this._content?.dispose();
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    if (this._content === null) {
      this._content = new DashboardContent(
        this._stream,
        this.name,
        this.kind,
        this._texts
      );
      this.node.append(this._content.element);
    }
    this._content.resume();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._content?.pause();
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this.node.focus();
  }

  protected override onCloseRequest(message: Message): void {
    super.onCloseRequest(message);
    this.dispose();
  }

  private _content: DashboardContent | null = null;
}
