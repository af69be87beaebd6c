import { Widget } from '@lumino/widgets';
import type { Texts } from '../texts.js';
import type { IStream } from '../tokens.js';
import type { DesignerContent } from './content.js';

/**
 * What the designer needs of its surroundings.
 */
export interface IDesignerOptions {
  readonly stream: IStream;
  readonly texts: Texts;

  /**
   * How often each set-up is launched, until the user says otherwise.
   */
  readonly rounds: number;

  /**
   * What was typed before the page was reloaded; null: nothing was.
   */
  readonly kept: readonly unknown[] | null;

  /**
   * Keep what is typed.
   */
  readonly keep: () => void;
}

/**
 * The workbench in a panel. Its code is loaded, and the server asked, when it is first seen.
 */
export class DesignerPanel extends Widget {
  constructor(private readonly _options: IDesignerOptions) {
    super();
    this.addClass('jp-SmtcDesigner');
  }

  /**
   * The set-ups as they are typed, as JSON; null: nothing was typed.
   */
  get value(): unknown {
    return this._content?.value ?? this._options.kept;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._content?.dispose();
      super.dispose();
    }
  }

  protected override onAfterShow(): void {
    if (this._content === null) {
      void this._load();
    }
    this._content?.look(true);
  }

  protected override onAfterHide(): void {
    this._content?.look(false);
  }

  protected override onAfterAttach(): void {
    if (this.isVisible) {
      this.onAfterShow();
    }
  }

  private async _load(): Promise<void> {
    const { DesignerContent } = await import('./content.js');
    if (this._content === null && !this.isDisposed) {
      this._content = new DesignerContent(this.node, this._options);
      this._content.look(this.isVisible);
    }
  }

  private _content: DesignerContent | null = null;
}
