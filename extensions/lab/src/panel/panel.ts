import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import type { Texts } from '../texts.js';
import { IStream, type ILab } from '../tokens.js';
import type { PanelContent } from './content.js';

/**
 * The list of runs in the side bar. What it shows is loaded and asked for when it is seen.
 */
export class RunsPanel extends Widget {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _lab: ILab,
    private readonly _texts: Texts
  ) {
    super();
    this.id = 'smtc-lab-runs';
    this.addClass('jp-Smtc-panel');
    this.title.caption = _texts.__('Training runs');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _texts.__('Training runs'));
  }

  override dispose(): void {
    this._follow?.dispose();
    this._content?.dispose();
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this._loaded();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._follow?.dispose();
    this._follow = null;
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    void this._loaded().then(() => {
      this._content?.focus();
    });
  }

  private async _loaded(): Promise<void> {
    this._loading ??= Promise.all([
      import('./load.js'),
      this._app.resolveRequiredService(IStream)
    ]);
    const [{ PanelContent, panelActions }, stream] = await this._loading;
    if (this.isDisposed) {
      return;
    }
    if (this._content === null) {
      const actions = panelActions(this._app, this._texts);
      this._content = new PanelContent(this._lab, stream, this._texts, actions);
      this.node.append(this._content.element);
    }
    if (this.isVisible) {
      this._follow ??= stream.runs.follow();
    }
  }

  private _content: PanelContent | null = null;
  private _follow: IDisposable | null = null;
  private _loading: Promise<
    readonly [typeof import('./load.js'), IStream]
  > | null = null;
}
