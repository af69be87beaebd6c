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
   * The comparison that was started last before that; empty: none.
   */
  readonly running: string;

  /**
   * The steps that could be undone then; undefined: nothing was kept.
   */
  readonly undo: unknown;

  /**
   * Keep what is typed, what can be undone, and what was started.
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

  /**
   * The comparison that was started last; empty: none.
   */
  get running(): string {
    return this._content?.running ?? this._options.running;
  }

  /**
   * The steps that can be undone, as JSON.
   */
  get undo(): unknown {
    return this._content?.undo ?? this._options.undo;
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
