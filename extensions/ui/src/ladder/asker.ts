import { isForecastOf, parseCompilerLadders } from '@smtc-lab/protocol';
import type { ICompilerLadders } from '@smtc-lab/protocol';
import type { IModel } from '../model.js';

const PAUSE_MS = 300;
const KEPT = ['entry_point', 'hyperparameters', 'arguments', 'compiler_config'];

/**
 * Asks what was measured of compiler settings, for each script and settings that are typed, and
 * again when a comparison has ended.
 */
export class LadderAsker {
  constructor(private readonly _model: IModel) {}

  /**
   * Ask soon, if what is typed was not asked about already.
   */
  ask(): void {
    const of = JSON.stringify([
      workloadsIn(this._model.get('value')),
      this._model.get('result')
    ]);
    if (of !== this._asked) {
      this._asked = of;
      clearTimeout(this._timer);
      this._timer = setTimeout(() => {
        this._model.send({ type: 'compiler-ladders' });
      }, PAUSE_MS);
    }
  }

  dispose(): void {
    clearTimeout(this._timer);
  }

  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _asked = '';
}

/**
 * Return what was told last; where it is of other scripts or settings, it tells of none.
 */
export function laddersOf(model: IModel): ICompilerLadders {
  const told = parseCompilerLadders(model.get('compiler_ladders'));
  const value = model.get('value');
  if (told.of === '' || isForecastOf(told, value)) {
    return told;
  }
  const then = JSON.stringify(workloadsIn(JSON.parse(told.of)));
  return then === JSON.stringify(workloadsIn(value))
    ? told
    : { ...told, setUps: [] };
}

/**
 * Return what a ladder depends on; the rest may change under it.
 */
function workloadsIn(value: unknown): unknown {
  return (Array.isArray(value) ? value : []).map((job: unknown) =>
    typeof job === 'object' && job !== null
      ? Object.entries(job).filter(([name]) => KEPT.includes(name))
      : job
  );
}
