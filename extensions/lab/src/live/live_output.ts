import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Kernel } from '@jupyterlab/services';
import { nullTranslator, type ITranslator } from '@jupyterlab/translation';
import { PanelLayout, Widget } from '@lumino/widgets';
import { objectOf, textField } from '@smtc-lab/protocol';
import { h } from '@smtc-lab/ui/dom.js';
import { keepKeys } from '@smtc-lab/ui/keep_keys.js';
import { DOMAIN } from '../language.js';
import type { Texts } from '../texts.js';
import type { IStream, IWatch } from '../tokens.js';
import { followed } from './followed.js';
import { LIVE_MIME, TABLE_MIME, WIDGET_MIME } from './mimes.js';

const WIDGETS = 'jupyter.widget';

/**
 * What an output needs of its notebook.
 */
export interface ILiveHost {
  readonly texts: Texts;

  /**
   * Return the connection to the server.
   */
  readonly connect: () => Promise<IStream>;

  /**
   * Make what shows a widget of the kernel.
   */
  readonly widgetRenderer: () => IRenderMime.IRenderer;

  /**
   * Whether this page knows a widget of the kernel.
   */
  readonly hasWidget: (id: string) => boolean;

  /**
   * Ask the kernel whether it has a widget; false, too, where there is no kernel.
   */
  readonly keepsWidget: (id: string) => Promise<boolean>;
}

/**
 * Shows live what a cell has launched: by the widget of its kernel while there is one, else by
 * what the server tells. So it is found again when the page was reloaded, the kernel restarted,
 * or the server came back.
 */
export class LiveOutput extends Widget implements IRenderMime.IRenderer {
  constructor(private readonly _host: ILiveHost) {
    super();
    this.layout = new PanelLayout();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const id = widgetOf(model);
    if (id !== '' && this._host.hasWidget(id)) {
      await this._showWidget(model);
      return;
    }
    if (model.data[TABLE_MIME] !== undefined) {
      await this._showTable(model, id);
      return;
    }
    const asked = objectOf(model.data[LIVE_MIME], 'A live output');
    const [kind, name] = [textField(asked, 'kind'), textField(asked, 'name')];
    this._place.replaceChildren(
      h(
        'p',
        { class: 'smtc-note', role: 'status' },
        this._host.texts.__('Reading %1 …', name)
      )
    );
    this.addClass('jp-SmtcLive');
    this.node.replaceChildren(this._place);
    const stream = await this._host.connect();
    if (this.isDisposed) {
      return;
    }
    this._leave();
    this._leave = followed(stream, `${kind}-monitor`, name, {
      take: watch => void this._show(`${kind}-monitor`, watch),
      refuse: () => void this._showSaved(model, id)
    });
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._leaveView();
      this._leave();
      super.dispose();
    }
  }

  /**
   * A table of runs: by its kernel while it has the widget, else the page that was saved.
   */
  private async _showTable(
    model: IRenderMime.IMimeModel,
    id: string
  ): Promise<void> {
    if (id !== '' && (await this._host.keepsWidget(id))) {
      await this._showWidget(model);
      return;
    }
    const { showResult } = await import('../results/show.js');
    if (!this.isDisposed) {
      this.addClass('jp-SmtcLive');
      this._leaveView();
      this._leaveView = showResult(this.node, {
        json: model.data[TABLE_MIME],
        text: model.data['text/plain'],
        translator: undefined
      });
    }
  }

  private async _show(view: string, watch: IWatch): Promise<void> {
    const { viewNamed } = await import('../dashboard/views.js');
    if (!watch.isDisposed) {
      this._place.replaceChildren();
      this._leaveView();
      const state = viewNamed(view).initialize(watch);
      const el = h('div');
      this._place.append(el);
      this._leaveView = viewNamed(view).render({ model: watch, el, state });
    }
  }

  /**
   * The server does not know it: another one launched it, or it was deleted.
   */
  private async _showSaved(
    model: IRenderMime.IMimeModel,
    id: string
  ): Promise<void> {
    const text: unknown = model.data['text/plain'];
    const words = Array.isArray(text) ? text.join('') : text;
    this._place.replaceChildren(
      ...(typeof words === 'string' ? [h('pre', {}, words)] : [])
    );
    if (id !== '' && (await this._host.keepsWidget(id)) && !this.isDisposed) {
      await this._showWidget(model);
    }
  }

  private async _showWidget(model: IRenderMime.IMimeModel): Promise<void> {
    this.removeClass('jp-SmtcLive');
    this.node.replaceChildren();
    const renderer = this._host.widgetRenderer();
    (this.layout as PanelLayout).addWidget(renderer);
    await renderer.renderModel(model);
  }

  private readonly _place = h('div', { class: 'smtc', onfocusin: keepKeys });
  private _leave: () => void = () => undefined;
  private _leaveView: () => void = () => undefined;
}

/**
 * Return what shows live outputs of a notebook.
 */
export function liveOutput(
  panel: NotebookPanel,
  translator: ITranslator | null,
  connect: () => Promise<IStream>
): LiveOutput {
  const { rendermime } = panel.content;
  const kernel = (): Kernel.IKernelConnection | null | undefined =>
    panel.sessionContext.session?.kernel;
  return new LiveOutput({
    texts: (translator ?? nullTranslator).load(DOMAIN),
    connect,
    widgetRenderer: () => rendermime.createRenderer(WIDGET_MIME),
    hasWidget: id => kernel()?.hasComm(id) ?? false,
    keepsWidget: async id => {
      const asked = kernel()?.requestCommInfo({ target_name: WIDGETS });
      const content = (await asked)?.content;
      return content?.status === 'ok' && id in content.comms;
    }
  });
}

/**
 * The widget of an output; empty: there is none, or what it is may not run here.
 */
function widgetOf({ data, trusted }: IRenderMime.IMimeModel): string {
  const view = data[WIDGET_MIME] as { readonly model_id?: unknown } | undefined;
  const id = view?.model_id;
  return trusted && typeof id === 'string' ? id : '';
}
