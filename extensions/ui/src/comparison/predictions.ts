import type { IComparisonInfo } from '@smtc-lab/protocol';
import type { IChart } from '../charts/options.js';
import { PredictedSteps } from '../run/predicted.js';

/**
 * What was predicted of the steps of each set-up, behind their step times and in its colour.
 */
export class Predictions {
  /**
   * @param _chart - Of the step times.
   */
  constructor(private readonly _chart: IChart) {}

  /**
   * Draw what is predicted by now, over the steps so far.
   */
  update({ setUps, launched }: IComparisonInfo): void {
    setUps.forEach(({ label, predictedStepTimeS }, place) => {
      const ofSetUp = launched.filter(launch => launch.setUp === place);
      const steps = Math.max(0, ...ofSetUp.map(launch => launch.steps));
      if (predictedStepTimeS === null || steps === 0) {
        return;
      }
      let line = this._lines.get(place);
      if (line === undefined) {
        line = new PredictedSteps();
        this._lines.set(place, line);
        this._chart.add(line.series(label, place));
      }
      line.update(predictedStepTimeS, steps);
    });
  }

  private readonly _lines = new Map<number, PredictedSteps>();
}
