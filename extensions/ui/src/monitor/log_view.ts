import { readWire, type ILogInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { button, copied, h, newId } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel } from '../model.js';
import type { IPart } from './part.js';

const EVERYWHERE = '';

/**
 * The last lines that a run printed: of all hosts or one, searched, followed or held still.
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
        h(
          'span',
          { class: 'smtc-field' },
          h('label', { for: this._search.id }, t('Search')),
          this._search
        ),
        this._follow,
        button(t('Copy'), async () => this._copyAll()),
        this._said
      ),
      this._found,
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
    const { lines, silent } = this._log;
    for (const host of [...lines.map(([host]) => host), ...silent]) {
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
    const all = this._printed();
    const word = this._search.value.trim().toLowerCase();
    const lines = all.filter(([, text]) => text.toLowerCase().includes(word));
    this._lines.replaceChildren(
      ...lines.map(([host, text]) =>
        h(
          'span',
          { class: 'smtc-log-line' },
          h('span', { class: 'smtc-log-host' }, `${host} │ `),
          ...marked(text, word),
          '\n'
        )
      )
    );
    if (all.length === 0) {
      this._lines.textContent = t('Nothing was printed.');
    }
    this._found.textContent = this._foundWords(word, lines.length, all.length);
    this._lines.scrollTop = this._lines.scrollHeight;
  }

  private _foundWords(word: string, found: number, all: number): string {
    const { leftOut } = this._log;
    if (word !== '') {
      return t(
        '%1 of the last %2 lines.',
        format(found, 'count'),
        format(all, 'count')
      );
    }
    return leftOut === 0 ? '' : t('The last %1 lines.', format(all, 'count'));
  }

  /**
   * Return the last lines of what is chosen, and those that have no end yet.
   */
  private _printed(): ILogInfo['lines'] {
    const wanted = this._host.value;
    return [...this._log.lines, ...this._log.unfinished].filter(
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
    const text = this._printed()
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
  private readonly _search = h('input', {
    id: newId(),
    type: 'search',
    oninput: () => {
      this._show();
    }
  });
  private readonly _found = h('p', { role: 'status', class: 'smtc-note' });
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
  private _log: ILogInfo = {
    lines: [],
    unfinished: [],
    leftOut: 0,
    silent: []
  };
  private _isFollowing = true;
}

/**
 * Return the parts of a line, with what is looked for marked.
 *
 * @param word - In lower case; empty: nothing is.
 */
function marked(text: string, word: string): readonly (Node | string)[] {
  const lower = text.toLowerCase();
  // some characters have another length in lower case
  if (word === '' || lower.length !== text.length) {
    return [text];
  }
  const parts: (Node | string)[] = [];
  let begin = 0;
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, begin)) {
    const end = at + word.length;
    parts.push(text.slice(begin, at), h('mark', {}, text.slice(at, end)));
    begin = end;
  }
  return [...parts, text.slice(begin)];
}
