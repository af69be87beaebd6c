import type { ILogInfo } from '@smtc-lab/protocol';
import { h, newId } from '../dom.js';
import { t } from '../i18n.js';

const EVERYWHERE = '';

/**
 * The last lines that a run printed: of all hosts or one, followed or held still.
 */
export class LogView {
  readonly element: HTMLElement;

  constructor() {
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
        this._copy,
        this._said
      ),
      this._lines
    );
    this._host.append(h('option', { value: EVERYWHERE }, t('all')));
  }

  /**
   * Show a log. While it is held still, nothing changes.
   */
  update(log: ILogInfo): void {
    this._log = log;
    for (const [host] of log.lines) {
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
      this._lines.textContent = t('Nothing was printed yet.');
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
    try {
      await navigator.clipboard.writeText(text);
      this._said.textContent = t('Copied.');
    } catch {
      // no clipboard without a secure page: the user copies what is selected
      getSelection()?.selectAllChildren(this._lines);
      this._said.textContent = t('Selected: copy it with Ctrl+C.');
    }
  }

  private readonly _host = h('select', {
    onchange: () => {
      this._show();
    }
  });
  private readonly _follow = h(
    'button',
    {
      type: 'button',
      'aria-pressed': 'true',
      onclick: () => {
        this._toggle();
      }
    },
    t('Follow')
  );
  private readonly _copy = h(
    'button',
    {
      type: 'button',
      onclick: () => {
        void this._copyAll();
      }
    },
    t('Copy')
  );
  private readonly _said = h('span', { role: 'status', class: 'smtc-note' });
  private readonly _lines = h('pre', {
    class: 'smtc-log-lines',
    tabindex: 0,
    role: 'region',
    'aria-label': t('Last lines of the log')
  });
  private readonly _hosts = new Set<string>();
  private _log: ILogInfo = { first: 0, lines: [] };
  private _isFollowing = true;
}
