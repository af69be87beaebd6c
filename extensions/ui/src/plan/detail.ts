import type { IPointInfo } from '@smtc-lab/protocol';
import { bounded, paragraph } from '../bounded.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { patch } from '../patch.js';
import { foldedCode } from '../monitor/section.js';
import { waterfall } from './waterfall.js';
import { pointWords } from './words.js';

/**
 * One cluster: what limits it, why, and the code that launches it.
 */
export class Detail {
  readonly element: HTMLElement;

  constructor() {
    this.element = h(
      'section',
      { class: 'smtc-plan-detail', 'aria-label': t('One cluster') },
      this._title,
      this._stages,
      this._explanation,
      this._notes,
      this._code.element
    );
  }

  /**
   * Show the stages of a cluster that is pointed at.
   */
  peek(point: IPointInfo): void {
    this._title.textContent = pointWords(point);
    this._stages.replaceChildren(waterfall(point));
  }

  /**
   * Show all of a cluster.
   */
  show(point: IPointInfo): void {
    this.peek(point);
    patch(
      this._explanation,
      point.explanation
        .split('\n')
        .filter(Boolean)
        .map(line => h('p', {}, ...bounded(line)))
    );
    // an explanation ends with the notes
    const notes = point.explanation === '' ? point.notes : [];
    patch(
      this._notes,
      notes.map(note => paragraph(note))
    );
    this._code.update(point);
  }

  dispose(): void {
    this._code.dispose();
  }

  private readonly _title = h('h4');
  private readonly _stages = h('div');
  private readonly _explanation = h('div', { role: 'status' });
  private readonly _notes = h('div');
  private readonly _code = foldedCode(t('Code that launches it'));
}
