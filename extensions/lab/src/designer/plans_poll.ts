import { objectOf, type JsonObject } from '@smtc-lab/protocol';

const PAUSE_MS = 250;

/**
 * Asks the server for all clusters that the set-ups could have, once a script of theirs is
 * calibrated: behind each forecast, and not before the set-ups rest for a moment, so that what is
 * dragged is answered first. One question is on its way at a time.
 */
export class PlansPoll {
  /**
   * @param ask - Ask the server about the set-ups that are typed now.
   * @param tell - Take an answer.
   */
  constructor(
    private readonly _ask: () => Promise<unknown>,
    private readonly _tell: (told: JsonObject) => void
  ) {}

  /**
   * Take note of what was forecast. The same set-ups with the same calibrations are asked about
   * once.
   */
  hear(forecast: JsonObject): void {
    const setUps = forecast['set_ups'];
    const kept = (Array.isArray(setUps) ? setUps : []).map(
      each => objectOf(each, 'A set-up')['calibration'] ?? null
    );
    const asked = JSON.stringify([forecast['of'], kept]);
    if (asked !== this._asked && kept.some(each => each !== null)) {
      this._asked = asked;
      clearTimeout(this._timer);
      this._timer = setTimeout(() => {
        void this._look();
      }, PAUSE_MS);
    }
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
  }

  private async _look(): Promise<void> {
    if (this._isAsking || this._isDisposed) {
      this._isAskedAgain = !this._isDisposed;
      return;
    }
    this._isAsking = true;
    try {
      this._show(objectOf(await this._ask(), 'All clusters'));
    } catch {
      this._asked = ''; // the next forecast has it asked again
    }
    this._isAsking = false;
    if (this._isAskedAgain) {
      this._isAskedAgain = false;
      await this._look();
    }
  }

  private _show(told: JsonObject): void {
    if (!this._isDisposed) {
      this._tell(told);
    }
  }

  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _asked = '';
  private _isAsking = false;
  private _isAskedAgain = false;
  private _isDisposed = false;
}
