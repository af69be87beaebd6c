import type { IRunInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { Facts } from './facts.js';
import type { IPart } from './part.js';
import { emptyWords, intervalWords, percent } from './words.js';

/**
 * The steps so far in a few numbers.
 */
export class RunNumbers implements IPart {
  readonly element = h('div', { class: 'smtc-run-numbers' });

  update(run: IRunInfo): void {
    const summary = run.summary;
    if (summary === null) {
      this.element.replaceChildren(
        h('p', { class: 'smtc-note' }, emptyWords(run))
      );
      return;
    }
    if (!this._facts.element.isConnected) {
      this.element.replaceChildren(this._facts.element);
    }
    this._facts.set(
      'mean step time',
      intervalWords(summary.stepTimeS, 's'),
      `${format(summary.steps, 'count')} steps, ${run.evidence}; ` +
        `warm-up left out: ${format(summary.warmUpSteps, 'count')}`
    );
    this._facts.set(
      'cost of 1,000 steps',
      summary.usdPer1000Steps === null
        ? 'unknown'
        : intervalWords(summary.usdPer1000Steps, 'USD')
    );
    this._facts.set(
      'data wait',
      percent(summary.dataWaitFraction),
      'of the step time'
    );
    this._facts.set('device busy', percent(summary.deviceUtilization));
    for (const [group, cpu] of summary.cpu) {
      this._facts.set(`CPU of ${group}`, percent(cpu));
    }
  }

  dispose(): void {
    this.element.remove();
  }

  private readonly _facts = new Facts();
}
