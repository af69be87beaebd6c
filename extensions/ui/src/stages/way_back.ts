import { isSameCut, movedFold, type IFold, type Starts } from './moves.js';

interface IMove {
  readonly first: number;
  readonly by: -1 | 1;
  readonly from: Starts;
  readonly to: Starts;
}

/**
 * Moves by keys: the other key leads back to where the same box was, with all that came along.
 */
export class WayBack {
  /**
   * Return the cut after a move; null: there is none.
   *
   * @param count - Modules of the model.
   */
  moved(wanted: Starts, fold: IFold, by: -1 | 1, count: number): Starts | null {
    const last = this._moves.at(-1);
    if (last !== undefined && isSameCut(last.to, wanted)) {
      if (last.first === fold.first && last.by === -by) {
        this._moves.pop();
        return last.from;
      }
    } else {
      this._moves.length = 0; // something else has changed the cut
    }
    const to = movedFold(wanted, fold, by, count);
    if (to !== null) {
      this._moves.push({ first: fold.first, by, from: wanted, to });
    }
    return to;
  }

  private readonly _moves: IMove[] = [];
}
