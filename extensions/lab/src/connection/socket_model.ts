import { Signal, type ISignal } from '@lumino/signaling';
import type { JsonObject } from '@smtc-lab/protocol';
import { BaseModel } from '@smtc-lab/ui/base_model.js';
import type { IWatch } from '../tokens.js';

/**
 * What a model needs of the connection.
 */
export interface IModelHost {
  /**
   * Watch for a model.
   *
   * @returns The number of the watch.
   */
  begin(model: SocketModel): number;

  /**
   * End a watch.
   */
  end(id: number): void;

  /**
   * Send a message of a view, as soon as there is a connection.
   */
  send(id: number, content: unknown): void;
}

/**
 * A view's model whose values and messages come from the server.
 */
export class SocketModel extends BaseModel implements IWatch {
  constructor(
    readonly view: string,
    readonly name: string | undefined,
    private readonly _host: IModelHost
  ) {
    super();
  }

  get isReady(): boolean {
    return this._isReady;
  }

  get problem(): string {
    return this._problem;
  }

  get stateChanged(): ISignal<IWatch, void> {
    return this._stateChanged;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  save_changes(): void {
    // the server tells its views, and takes nothing from them but messages
  }

  send(message: unknown): void {
    // a watch begins with all there is: what was asked for before that comes anyway
    if (this._id !== null && (this._isFresh || !isQuestion(message))) {
      this._host.send(this._id, message);
    }
  }

  resume(): void {
    if (this._id === null && !this._isDisposed) {
      this._isFresh = false;
      this._id = this._host.begin(this);
    }
  }

  pause(): void {
    if (this._id !== null) {
      this._host.end(this._id);
      this._id = null;
    }
  }

  dispose(): void {
    this.pause();
    this._isDisposed = true;
    this.callbacks.clear();
    Signal.clearData(this);
  }

  /**
   * Take note that the connection was made again: all comes anew.
   */
  begunAgain(): void {
    this._isFresh = false;
  }

  /**
   * Take values.
   */
  takeValues(values: JsonObject): void {
    this._isFresh = true;
    const isNews = !this._isReady || this._problem !== '';
    this._isReady = true;
    this._problem = '';
    for (const [name, value] of Object.entries(values)) {
      this.values.set(name, value);
    }
    for (const name of Object.keys(values)) {
      this.tell(`change:${name}`);
    }
    if (isNews) {
      this._stateChanged.emit();
    }
  }

  /**
   * Take a message of the view's other half.
   */
  takeMessage(content: unknown, buffers: readonly DataView[]): void {
    this.tell('msg:custom', content, buffers);
  }

  /**
   * Take note that the server cannot tell, and why.
   */
  takeProblem(message: string): void {
    this._problem = message;
    this._stateChanged.emit();
  }

  private readonly _stateChanged = new Signal<IWatch, void>(this);
  private _id: number | null = null;
  private _isFresh = false;
  private _isReady = false;
  private _isDisposed = false;
  private _problem = '';
}

/**
 * Whether a message only asks for what there is.
 */
function isQuestion(message: unknown): boolean {
  const type: unknown =
    typeof message === 'object' && message !== null && 'type' in message
      ? message.type
      : undefined;
  return type === 'resync' || type === 'read';
}
