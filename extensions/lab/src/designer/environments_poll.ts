import { objectOf, type JsonObject } from '@smtc-lab/protocol';

const POLL_MS = 1000;

/**
 * Asks the server for the Python environments, and each second how far the one of XLA is while
 * it is being made and somebody looks.
 */
export class EnvironmentsPoll {
  /**
   * @param ask - Ask the server; with a body, have something made.
   * @param tell - Take an answer that is another one than before.
   * @param wordsOf - Say in words why no answer came.
   */
  constructor(
    private readonly _ask: (body?: unknown) => Promise<unknown>,
    private readonly _tell: (told: JsonObject) => void,
    private readonly _wordsOf: (error: unknown) => string
  ) {}

  /**
   * Ask what there is. Without an answer, all stays as it is: a request that the user makes
   * will say why.
   */
  async look(): Promise<void> {
    await this._take(() => this._ask()).catch(() => {
      this._askAgain();
    });
  }

  /**
   * Have the environment of XLA made.
   */
  async make(): Promise<void> {
    await this._take(() => this._ask({ make: 'xla' })).catch(
      (error: unknown) => {
        const making = { state: 'failed', sentence: this._wordsOf(error) };
        this._show({ ...this._told, making });
      }
    );
  }

  /**
   * Tell whether somebody looks.
   */
  setVisible(isVisible: boolean): void {
    this._isVisible = isVisible;
    clearTimeout(this._timer);
    if (isVisible && this._isMaking) {
      void this.look();
    }
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
  }

  private async _take(ask: () => Promise<unknown>): Promise<void> {
    clearTimeout(this._timer);
    const told = objectOf(await ask(), 'The Python environments');
    if (!this._isDisposed) {
      this._show(told);
      this._askAgain();
    }
  }

  private _show(told: JsonObject): void {
    if (JSON.stringify(told) !== JSON.stringify(this._told)) {
      this._told = told;
      this._tell(told);
    }
  }

  private _askAgain(): void {
    clearTimeout(this._timer);
    if (this._isMaking && this._isVisible && !this._isDisposed) {
      this._timer = setTimeout(() => {
        void this.look();
      }, POLL_MS);
    }
  }

  private get _isMaking(): boolean {
    const making = objectOf(this._told['making'], 'The making');
    return making['state'] === 'making';
  }

  private _told: JsonObject = {
    choices: [],
    no_xla: '',
    making: { state: 'idle', sentence: '' }
  };
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isVisible = true;
  private _isDisposed = false;
}
