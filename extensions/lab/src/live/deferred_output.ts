import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { PanelLayout, Widget } from '@lumino/widgets';

/**
 * An output whose code is loaded once there is something to show.
 */
export class DeferredOutput extends Widget implements IRenderMime.IRenderer {
  constructor(private readonly _make: () => Promise<IRenderMime.IRenderer>) {
    super();
    this.layout = new PanelLayout();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const output = await (this._made ??= this._make());
    if (this.isDisposed) {
      output.dispose();
      return;
    }
    (this.layout as PanelLayout).addWidget(output);
    await output.renderModel(model);
  }

  private _made: Promise<IRenderMime.IRenderer> | null = null;
}
