import { Signal, type ISignal } from '@lumino/signaling';
import { checkVersion, diagnose, socketProblem } from '../diagnosis.js';
import type { Texts } from '../texts.js';
import type {
  IProblem,
  IRuns,
  IStream,
  IWatch,
  StreamState
} from '../tokens.js';
import { delayMs } from './backoff.js';
import { parseBinary, parseText } from './messages.js';
import { Runs } from './runs.js';
import { SocketModel, type IModelHost } from './socket_model.js';

const IDLE_MS = 5_000;

/**
 * Where the stream gets its connection from.
 */
export interface IStreamOptions {
  /**
   * Ask the server extension for something; with a body, post it.
   */
  readonly request: (path: string, body?: unknown) => Promise<unknown>;

  /**
   * Open the WebSocket.
   */
  readonly openSocket: () => WebSocket;

  /**
   * Version of this page.
   */
  readonly version: string;
  readonly texts: Texts;
}

/**
 * One WebSocket for all that this browser tab watches. It is made again when it breaks, and
 * closed when nothing is watched.
 */
export class Stream implements IStream, IModelHost {
  constructor(private readonly _options: IStreamOptions) {
    this.runs = new Runs(this.watch('runs'));
  }

  readonly runs: IRuns;

  get state(): StreamState {
    return this._state;
  }

  get problem(): IProblem | null {
    return this._problem;
  }

  get changed(): ISignal<IStream, void> {
    return this._changed;
  }

  watch(view: string, name?: string): IWatch {
    return new SocketModel(view, name, this);
  }

  request(path: string, body?: unknown): Promise<unknown> {
    return this._options.request(path, body);
  }

  connect(): void {
    clearTimeout(this._timer);
    if (this._watches.size > 0 && this._socket === null && !this._isAsleep) {
      void this._begin();
    }
  }

  /**
   * Close the connection while nobody looks at this tab.
   */
  sleep(): void {
    this._isAsleep = true;
    this._close();
  }

  /**
   * Go on.
   */
  wake(): void {
    if (this._isAsleep) {
      this._isAsleep = false;
      this.connect();
    }
  }

  begin(model: SocketModel): number {
    this._lastId += 1;
    const id = this._lastId;
    this._watches.set(id, model);
    clearTimeout(this._idleTimer);
    if (this._state === 'connected') {
      this._sayWatch(id, model);
    } else if (this._state === 'idle' || this._state === 'refused') {
      this.connect();
    }
    return id;
  }

  end(id: number): void {
    this._watches.delete(id);
    this._waiting = this._waiting.filter(message => message.id !== id);
    if (this._state === 'connected') {
      this._say({ type: 'unwatch', id });
    }
    if (this._watches.size === 0) {
      clearTimeout(this._idleTimer);
      this._idleTimer = setTimeout(() => {
        this._close();
      }, IDLE_MS);
    }
  }

  send(id: number, content: unknown): void {
    const message = { type: 'message', id, content };
    if (this._state === 'connected') {
      this._say(message);
    } else {
      this._waiting.push(message);
    }
  }

  private async _begin(): Promise<void> {
    this._tries += 1;
    const thisTry = this._tries;
    this._become(this._failures === 0 ? 'connecting' : 'cut', this._problem);
    try {
      const info = await this._options.request('info');
      if (thisTry !== this._tries) {
        return;
      }
      const wrong = checkVersion(
        info,
        this._options.version,
        this._options.texts
      );
      if (wrong?.isFinal) {
        this._become('refused', wrong.problem);
        return;
      }
      this._open(wrong?.problem ?? null);
    } catch (error) {
      if (thisTry === this._tries) {
        const { problem, isFinal } = diagnose(error, this._options.texts);
        this._fail(problem, isFinal);
      }
    }
  }

  private _open(problem: IProblem | null): void {
    const socket = this._options.openSocket();
    this._socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      this._become('connected', problem);
      for (const [id, model] of this._watches) {
        model.begunAgain();
        this._sayWatch(id, model);
      }
      this._waiting.splice(0).forEach(message => {
        this._say(message);
      });
    };
    socket.onmessage = event => {
      this._failures = 0;
      this._take(event.data as string | ArrayBuffer);
    };
    socket.onclose = () => {
      this._socket = null;
      const wasOpen = this._state === 'connected';
      const { texts } = this._options;
      this._fail(
        wasOpen ? diagnose(null, texts).problem : socketProblem(texts),
        false
      );
    };
  }

  private _fail(problem: IProblem, isFinal: boolean): void {
    this._failures += 1;
    this._become(isFinal ? 'refused' : 'cut', problem);
    if (!isFinal) {
      clearTimeout(this._timer);
      this._timer = setTimeout(
        () => {
          this.connect();
        },
        delayMs(this._failures, Math.random())
      );
    }
  }

  private _close(): void {
    clearTimeout(this._timer);
    this._tries += 1; // an answer on its way finds nobody
    const socket = this._socket;
    this._socket = null;
    if (socket !== null) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    this._failures = 0;
    this._become('idle', null);
  }

  private _become(state: StreamState, problem: IProblem | null): void {
    if (state !== this._state || problem !== this._problem) {
      this._state = state;
      this._problem = problem;
      this._changed.emit();
    }
  }

  private _take(data: string | ArrayBuffer): void {
    let model: SocketModel | undefined;
    try {
      if (data instanceof ArrayBuffer) {
        const message = parseBinary(data);
        model = this._watches.get(message.id);
        model?.takeMessage(message.content, message.buffers);
      } else {
        const message = parseText(data);
        model = this._watches.get(message.id ?? 0);
        if (message.type === 'set') {
          model?.takeValues(message.values);
        } else if (model === undefined) {
          console.error(message.message);
        } else {
          model.takeProblem(message.message);
        }
      }
    } catch (error) {
      // one view that cannot read its data leaves the others alone
      console.error(error);
      model?.takeProblem(error instanceof Error ? error.message : '');
    }
  }

  private _sayWatch(id: number, { view, name }: SocketModel): void {
    this._say({ type: 'watch', id, view, ...(name && { name }) });
  }

  private _say(message: object): void {
    this._socket?.send(JSON.stringify(message));
  }

  private readonly _changed = new Signal<IStream, void>(this);
  private readonly _watches = new Map<number, SocketModel>();
  private _waiting: { readonly id: number }[] = [];
  private _state: StreamState = 'idle';
  private _problem: IProblem | null = null;
  private _socket: WebSocket | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _idleTimer: ReturnType<typeof setTimeout> | undefined;
  private _failures = 0;
  private _tries = 0;
  private _lastId = 0;
  private _isAsleep = false;
}
