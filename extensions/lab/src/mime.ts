import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { runsIcon } from './icon.js';

/**
 * What notebooks keep of runs, of comparisons and of plans.
 *
 * Mirrors `RUN_MIME`, `COMPARISON_MIME`, `PLAN_MIME` and `RUN_COMPARISON_MIME` of `smtc_lab.views`.
 */
const [COMPARISON_MIME = '', ...OTHER_MIMES] = [
  'comparison',
  'plan',
  'run-comparison',
  'run'
].map(kind => `application/vnd.smtc-lab.${kind}+json`);

const FILE_TYPE = 'smtc-lab-result';

/**
 * Shows a saved result: interactive, with no kernel, and before the notebook is trusted. Its
 * views are loaded when the first one is shown.
 */
class ResultRenderer extends Widget implements IRenderMime.IRenderer {
  constructor(private readonly _options: IRenderMime.IRendererOptions) {
    super();
    this.addClass('jp-SmtcResult');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const { showResult } = await import('./results/show.js');
    if (!this.isDisposed) {
      this._leave();
      this._leave = showResult(this.node, {
        json: model.data[this._options.mimeType],
        text: model.data['text/plain'],
        translator: this._options.translator
      });
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._leave();
      super.dispose();
    }
  }

  private _leave: () => void = () => undefined;
}

const extension: IRenderMime.IExtension = {
  id: '@smtc-lab/lab:results',
  description: 'Saved results, in notebooks and as files',
  rendererFactory: {
    // all texts become text nodes, and nothing that a result holds is executed
    safe: true,
    mimeTypes: [COMPARISON_MIME, ...OTHER_MIMES],
    createRenderer: options => new ResultRenderer(options)
  },
  dataType: 'json',
  // before the HTML and the picture that the same output holds for other readers
  rank: 0,
  fileTypes: [
    {
      name: FILE_TYPE,
      displayName: 'smtc_lab result',
      extensions: ['.smtc.json'],
      fileFormat: 'text',
      mimeTypes: [COMPARISON_MIME],
      // as data: JupyterLab writes the type down as JSON
      icon: { name: runsIcon.name, svgstr: runsIcon.svgstr }
    }
  ],
  documentWidgetFactoryOptions: {
    name: 'smtc_lab result',
    primaryFileType: FILE_TYPE,
    fileTypes: [FILE_TYPE],
    defaultFor: [FILE_TYPE]
  }
};

export default extension;
