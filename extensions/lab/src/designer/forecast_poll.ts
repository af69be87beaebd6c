import { objectOf, type JsonObject } from '@smtc-lab/protocol';

const CHANGE_MS = 30;
const POLL_MS = 1000;
const GOING_ON = ['calibrating', 'stopping'];

/**
 * Asks the server what the set-ups would be, soon after each change, and each second how far a
 * calibration is while one goes on and somebody looks.
 *
 * One question is on its way at a time, the next one of what is typed by then: so answers come in
 * the order of questions, and someone who drags gets them as fast as the server makes them.
 */
export class ForecastPoll {
  /**
   * @param ask - Ask the server what the set-ups would be that are typed now.
   * @param order - Have what has no calibration calibrated; false: have that stopped.
   * @param tell - Take an answer.
   * @param wordsOf - Say in words why no answer came.
   */
  constructor(
    private readonly _ask: () => Promise<unknown>,
    private readonly _order: (isBegin: boolean) => Promise<unknown>,
    private readonly _tell: (told: JsonObject) => void,
    private readonly _wordsOf: (error: unknown) => string
  ) {}

  /**
   * Ask soon. A change that comes before then is asked about together with this one.
   */
  change(): void {
    this._askIn(CHANGE_MS);
  }

  /**
   * Have what has no calibration calibrated; false: have that stopped.
   */
  async calibrate(isBegin: boolean): Promise<void> {
    try {
      await this._order(isBegin);
      this._askIn(0);
    } catch (error) {
      if (!this._isDisposed) {
        const failed = { state: 'failed', sentence: this._wordsOf(error) };
        this._show({ ...this._told, calibrating: failed });
      }
    }
  }

  /**
   * Tell whether somebody looks.
   */
  setVisible(isVisible: boolean): void {
    this._isVisible = isVisible;
    if (!this._isGoingOn) {
      return;
    }
    clearTimeout(this._timer);
    this._dueMs = Infinity;
    if (isVisible) {
      this._askIn(0);
    }
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
  }

  /**
   * Ask after a time, or earlier where that is planned already.
   */
  private _askIn(delayMs: number): void {
    const dueMs = Date.now() + delayMs;
    if (this._isDisposed || dueMs >= this._dueMs) {
      return;
    }
    clearTimeout(this._timer);
    this._dueMs = dueMs;
    this._timer = setTimeout(() => {
      this._dueMs = Infinity;
      void this._look();
    }, delayMs);
  }

  private async _look(): Promise<void> {
    if (this._isAsking) {
      this._isAskedAgain = true;
      return;
    }
    this._isAsking = true;
    try {
      const told = objectOf(await this._ask(), 'The forecast');
      objectOf(told['calibrating'], 'The calibration');
      if (!this._isDisposed) {
        this._show(told);
      }
    } catch {
      // what was told stays; a request that the user makes will say why
    }
    this._isAsking = false;
    if (this._isAskedAgain) {
      this._isAskedAgain = false;
      this._askIn(0);
    } else if (this._isGoingOn && this._isVisible) {
      this._askIn(POLL_MS);
    }
  }

  private _show(told: JsonObject): void {
    this._told = told;
    this._tell(told);
  }

  private get _isGoingOn(): boolean {
    const { state } = objectOf(this._told['calibrating'], 'The calibration');
    return GOING_ON.includes(String(state));
  }

  private _told: JsonObject = {
    version: 1,
    calibrating: { state: 'idle' },
    comparison_s: null,
    comparison_usd: null,
    missing: null
  };
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _dueMs = Infinity;
  private _isAsking = false;
  private _isAskedAgain = false;
  private _isVisible = true;
  private _isDisposed = false;
}
