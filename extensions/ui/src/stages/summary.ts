import { h } from '../dom.js';
import { t } from '../i18n.js';
import { percent } from '../monitor/words.js';
import { patch } from '../patch.js';
import type { Cuts } from './cuts.js';
import { basisWords, timeWords } from './words.js';

/**
 * The predicted step, beside that before the last change and that of the best cut.
 */
export class Summary {
  readonly element = h('div', { class: 'smtc-cut-summary' });

  show(cuts: Cuts): void {
    const { told, model, before } = cuts;
    const own = timeWords(told.step, model);
    const steps: readonly (readonly [string, number | null])[] = [
      [t('this cut'), told.step],
      [t('before the change'), before],
      [t('best automatic cut'), model.bestStep]
    ];
    const most = Math.max(...steps.map(([, step]) => step ?? 0));
    this.element.toggleAttribute('data-waiting', cuts.isWaiting);
    patch(this.element, [
      h(
        'p',
        { class: 'smtc-cut-step' },
        h(
          'b',
          {},
          model.unit === 'fraction'
            ? t('A step takes %1 of that of one device', own)
            : t('A step takes %1', own)
        ),
        ' ',
        h('span', { class: 'smtc-badge' }, t('predicted'))
      ),
      h(
        'div',
        { class: 'smtc-cut-steps' },
        ...steps.flatMap(([words, step]) => [
          h('span', {}, words),
          bar(step ?? 0, most, 'smtc-cut-bar'),
          h(
            'span',
            { class: 'smtc-number' },
            step === null ? '–' : timeWords(step, model)
          )
        ])
      ),
      h(
        'p',
        {},
        t(
          '%1 times as fast as one device; ranks are idle for %2 of a step.',
          told.speedUp.toFixed(2),
          percent(told.idleFraction)
        ),
        ` ${told.sentence}`
      ),
      h('p', { class: 'smtc-note' }, `${basisWords(model)}.`)
    ]);
  }
}

/**
 * Return a hollow bar, as what is predicted is drawn; beside it stands its number.
 */
export function bar(value: number, most: number, name: string): HTMLElement {
  const width = most > 0 ? Math.min(100, (100 * value) / most) : 0;
  return h(
    'div',
    { class: name, 'aria-hidden': 'true' },
    width > 0 ? h('i', { style: `width: ${width}%` }) : null
  );
}
