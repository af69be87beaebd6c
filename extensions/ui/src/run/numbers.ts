import type { IRunInfo } from '@smtc-lab/protocol';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { Facts } from './facts.js';
import type { IPart } from './part.js';
import { emptyWords, intervalWords, percent } from './words.js';
import { t } from '../i18n.js';

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
      t('mean step time'),
      intervalWords(summary.stepTimeS, 's'),
      t(
        '%1 steps, %2; warm-up left out: %3',
        format(summary.steps, 'count'),
        t(run.evidence),
        format(summary.warmUpSteps, 'count')
      )
    );
    this._facts.set(
      t('cost of 1,000 steps'),
      summary.usdPer1000Steps === null
        ? t('unknown')
        : intervalWords(summary.usdPer1000Steps, 'USD')
    );
    this._facts.set(
      t('data wait'),
      percent(summary.dataWaitFraction),
      t('of the step time')
    );
    this._facts.set(t('device busy'), percent(summary.deviceUtilization));
    for (const [group, cpu] of summary.cpu) {
      this._facts.set(t('CPU of %1', group), percent(cpu));
    }
  }

  dispose(): void {
    this.element.remove();
  }

  private readonly _facts = new Facts();
}
