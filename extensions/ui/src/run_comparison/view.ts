import { readWire } from '@smtc-lab/protocol';
import { paragraph } from '../bounded.js';
import { h } from '../dom.js';
import { onChanges } from '../forms/component.js';
import { t } from '../i18n.js';
import type { IModel, IView } from '../model.js';
import { differencesTable } from './differences.js';
import { Overlay } from './overlay.js';
import { Scatter } from './scatter.js';
import { runWords, sentence } from './words.js';

/**
 * Runs that were never planned together: metrics over each other, two quantities, what differs.
 *
 * Reads `comparison`, a `RunComparison`, from its model.
 */
export const runComparison: IView = {
  initialize: () => null,
  render({ model, el }): () => void {
    const view = new RunComparisonView(model);
    el.append(view.element);
    const leave = onChanges(model, ['comparison'], () => {
      view.update();
    });
    return () => {
      leave();
      view.dispose();
    };
  }
};

class RunComparisonView {
  readonly element: HTMLElement;

  constructor(private readonly _model: IModel) {
    this.element = h(
      'section',
      { class: 'smtc-compared', 'aria-label': t('Compared runs') },
      h('p', {}, this._sentence),
      this._notes,
      this._overlay.element,
      this._scatter.element,
      this._table
    );
    this.update();
  }

  /**
   * Show what the model holds now.
   */
  update(): void {
    const compared = readWire('RunComparison', this._model.get('comparison'));
    const { runs, metrics, unknown } = compared;
    this._sentence.textContent = sentence(compared);
    const texts = [
      ...runs.flatMap((run, place) =>
        run.problem === '' ? [] : [`${runWords(run, place)}: ${run.problem}`]
      ),
      metrics.length === 0 ? t('None of them logged a metric.') : '',
      unknown.length > 0
        ? t(
            'Not written down of some of them: %1.',
            unknown.map(part => t(part)).join(', ')
          )
        : ''
    ];
    this._notes.replaceChildren(
      ...texts.filter(Boolean).map(text => paragraph(text))
    );
    this._overlay.show(compared);
    this._scatter.show(compared);
    this._table.replaceChildren(differencesTable(compared));
  }

  dispose(): void {
    this._overlay.dispose();
    this._scatter.dispose();
    this.element.remove();
  }

  private readonly _sentence = h('strong');
  private readonly _notes = h('div');
  private readonly _overlay = new Overlay();
  private readonly _scatter = new Scatter();
  private readonly _table = h('div', {
    ...{ class: 'smtc-compared-table', tabindex: 0, role: 'group' },
    'aria-label': t('What differs, and what came out')
  });
}
