import { readWire, type ILogInfo } from '@smtc-lab/protocol';
import { button, copied, h, newId } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel } from '../model.js';
import type { IPart } from './part.js';

const EVERYWHERE = '';

/**
 * The last lines that a run printed: of all hosts or one, followed or held still.
 */
export class LogView implements IPart<unknown> {
  readonly element: HTMLElement;

  constructor(private readonly _model: IModel) {
    const id = newId();
    this._host.id = id;
    this.element = h(
      'div',
      { class: 'smtc-log' },
      h(
        'div',
        { class: 'smtc-row' },
        h(
          'span',
          { class: 'smtc-field' },
          h('label', { for: id }, t('Instance')),
          this._host
        ),
        this._follow,
        button(t('Copy'), async () => this._copyAll()),
        this._said
      ),
      this._lines
    );
    this._host.append(h('option', { value: EVERYWHERE }, t('all')));
  }

  /**
   * Show the log where it is another. While it is held still, nothing changes.
   */
  update(): void {
    const told = this._model.get('log');
    if (told === this._told) {
      return;
    }
    this._told = told;
    this._log = readWire('LogInfo', told);
    const { lines, silent, earlier } = this._log;
    for (const host of [
      ...lines.map(([host]) => host),
      ...earlier,
      ...silent
    ]) {
      if (!this._hosts.has(host)) {
        this._hosts.add(host);
        this._host.append(h('option', { value: host }, host));
      }
    }
    if (this._isFollowing) {
      this._show();
    }
  }

  private _show(): void {
    const lines = this._chosen();
    this._lines.replaceChildren(
      ...lines.map(([host, text]) =>
        h(
          'span',
          { class: 'smtc-log-line' },
          h('span', { class: 'smtc-log-host' }, `${host} │ `),
          `${text}\n`
        )
      )
    );
    if (lines.length === 0) {
      const chosen = this._host.value;
      this._lines.textContent = this._log.earlier.includes(chosen)
        ? t('None of the last lines is of %1.', chosen)
        : t('Nothing was printed.');
    }
    this._lines.scrollTop = this._lines.scrollHeight;
  }

  private _chosen(): ILogInfo['lines'] {
    const wanted = this._host.value;
    return this._log.lines.filter(
      ([host]) => wanted === EVERYWHERE || wanted === host
    );
  }

  private _toggle(): void {
    this._isFollowing = !this._isFollowing;
    this._follow.setAttribute('aria-pressed', String(this._isFollowing));
    if (this._isFollowing) {
      this._show();
    }
  }

  private async _copyAll(): Promise<void> {
    const text = this._chosen()
      .map(([host, text]) => `${host} | ${text}\n`)
      .join('');
    this._said.textContent = (await copied(text, this._lines))
      ? t('Copied.')
      : t('Selected: copy it with Ctrl+C.');
  }

  private readonly _host = h('select', {
    onchange: () => {
      this._show();
    }
  });
  private readonly _follow = button(
    t('Follow'),
    () => {
      this._toggle();
    },
    { 'aria-pressed': 'true' }
  );
  private readonly _said = h('span', { role: 'status', class: 'smtc-note' });
  private readonly _lines = h('pre', {
    class: 'smtc-log-lines',
    tabindex: 0,
    role: 'region',
    'aria-label': t('Last lines of the log')
  });
  private readonly _hosts = new Set<string>();
  private _told: unknown;
  private _log: ILogInfo = { first: 0, lines: [], silent: [], earlier: [] };
  private _isFollowing = true;
}
