import type { JupyterFrontEnd } from '@jupyterlab/application';
import { objectOf, textField } from '@smtc-lab/protocol';
import { BaseModel } from '@smtc-lab/ui/base_model.js';
import type { IModel } from '@smtc-lab/ui/model.js';
import { isLive, keyOf } from '../connection/row.js';
import type { ILab, IStream } from '../tokens.js';

const COMPARE = 'smtc-lab:compare-runs';

/**
 * What the model of the table needs.
 */
export interface ITableHost {
  readonly app: JupyterFrontEnd;
  readonly lab: ILab;
  readonly stream: IStream;

  /**
   * Ask the user whether so many runs are to be deleted.
   */
  readonly mayDelete: (count: number) => Promise<boolean>;
}

interface IMessage {
  readonly type: string;
  readonly name: string;
  readonly kind: string;
  readonly names: readonly string[];
  readonly rows: readonly { readonly name: string; readonly kind: string }[];
  readonly ids: readonly string[];
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly note?: string;
}

/**
 * The table of runs, asked of the server a page at a time, and again when a run began or ended.
 */
export class TableModel extends BaseModel implements IModel {
  constructor(private readonly _host: ITableHost) {
    super({ asked: {} });
    this._host.stream.runs.changed.connect(this._onRuns);
  }

  dispose(): void {
    this._isDisposed = true;
    this._host.stream.runs.changed.disconnect(this._onRuns);
  }

  save_changes(): void {
    void this._ask(false);
  }

  send(message: unknown): void {
    const asked = message as IMessage;
    const { app, lab } = this._host;
    const { type, names, rows, ids } = asked;
    if (type === 'open') {
      void lab.open(asked.name, asked.kind);
    } else if (type === 'compare') {
      void app.commands.execute(COMPARE, { names: [...names] });
    } else if (type === 'delete') {
      void this._delete(rows);
    } else if (type === 'undo') {
      void this._each(type, ids, id => `deletions/${id}/undo`, {});
    } else if (type === 'annotate') {
      const { title, tags, note } = asked;
      const path = (name: string): string =>
        `runs/${encodeURIComponent(name)}/notes`;
      const all = rows.map(({ name }) => name);
      void this._each(type, all, path, { title, tags, note });
    }
  }

  /**
   * Read the table again.
   */
  refresh(): void {
    const has = this._host.app.commands.hasCommand(COMPARE);
    this.set('can', [
      ...['ask', 'unfold', 'launches', 'open', 'annotate', 'delete'],
      ...(has ? ['compare'] : [])
    ]);
    void this._ask(true);
  }

  private async _delete(rows: IMessage['rows']): Promise<void> {
    if (await this._host.mayDelete(rows.length)) {
      const all = rows.map(
        ({ kind, name }) => `${kind}s/${encodeURIComponent(name)}/delete`
      );
      await this._each('delete', all, path => path, {});
    }
  }

  /**
   * Post one request for each, and tell how many were done, and why one was not.
   */
  private async _each(
    type: string,
    all: readonly string[],
    path: (one: string) => string,
    body: object
  ): Promise<void> {
    const undo: string[] = [];
    let [done, problem] = [0, ''];
    for (const one of all) {
      try {
        const answer = await this._host.stream.request(path(one), body);
        if (type === 'delete') {
          undo.push(textField(objectOf(answer, 'Deletion'), 'id'));
        }
        done += 1;
      } catch (error) {
        problem = messageOf(error);
      }
    }
    await this._ask(true);
    this.set('told', { type, done, problem, undo });
  }

  private async _ask(isFresh: boolean): Promise<void> {
    const number = (this._number += 1);
    const asked = this.get('asked') as Readonly<Record<string, unknown>>;
    const address = new URLSearchParams(isFresh ? { fresh: '1' } : {});
    for (const [name, value] of Object.entries(asked)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        address.append(name, String(one));
      }
    }
    let page: unknown;
    try {
      page = await this._host.stream.request(`table?${address.toString()}`);
    } catch (error) {
      page = { problem: messageOf(error) };
    }
    // what was asked for meanwhile counts
    if (number === this._number && !this._isDisposed) {
      this.set('page', page);
    }
  }

  private readonly _onRuns = (): void => {
    const { runs } = this._host.stream;
    const now = runs.rows.map(row => `${keyOf(row)}${isLive(row)}`).join();
    if (now !== this._seen) {
      const isFirst = this._seen === null;
      this._seen = now;
      if (!isFirst) {
        void this._ask(true);
      }
    }
  };

  private _number = 0;
  private _seen: string | null = null;
  private _isDisposed = false;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
