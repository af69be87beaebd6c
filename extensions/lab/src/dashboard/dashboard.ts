import type { Message } from '@lumino/messaging';
import { keyOf, type Kind } from '../connection/row.js';
import { kindCaption } from '../kind_words.js';
import { MainTab } from '../main_tab.js';
import type { Texts } from '../texts.js';
import type { IStream } from '../tokens.js';
import { DashboardContent } from './content.js';

/**
 * A run or a study in the main area.
 */
export class Dashboard extends MainTab {
  constructor(
    private readonly _stream: IStream,
    readonly name: string,
    readonly kind: Kind,
    private readonly _texts: Texts
  ) {
    super(
      `smtc-lab:${keyOf({ name, kind })}`,
      name,
      kindCaption(kind, name, _texts)
    );
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

  private _content: DashboardContent | null = null;
}
