import type { IPlannedModelInfo, IPlannedStageInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { patch } from '../patch.js';
import { bar } from './summary.js';
import {
  memoryWords,
  missingBytes,
  receivedWords,
  timeWords
} from './words.js';

/**
 * A column: what a stage takes, holds and receives, and a list of its modules.
 */
export class Stage {
  readonly element: HTMLElement;

  /**
   * Of its modules.
   */
  readonly list: HTMLElement;

  /**
   * @param place - Number of the stage, from 0.
   * @param hint - Id of what says how modules are moved.
   */
  constructor(
    readonly place: number,
    hint: string
  ) {
    this.list = h('div', {
      class: 'smtc-stage-modules',
      role: 'listbox',
      'aria-label': t('Modules of stage %1', place),
      'aria-describedby': hint
    });
    this.element = h(
      'div',
      {
        class: 'smtc-stage',
        role: 'group',
        'aria-label': t('Stage %1', place)
      },
      this._head,
      this.list
    );
  }

  /**
   * Show what is predicted of it.
   *
   * @param slowest - Time of the slowest stage.
   * @param fullest - Bytes of the stage that holds most.
   */
  show(
    stage: IPlannedStageInfo,
    slowest: number,
    fullest: number,
    model: IPlannedModelInfo
  ): void {
    const isOver = missingBytes(stage) > 0;
    this.element.toggleAttribute('data-over', isOver);
    patch(this._head, [
      h(
        'p',
        {},
        h('b', {}, t('Stage %1', this.place)),
        ` ${t('on rank %1', stage.rank)}`
      ),
      bar(stage.time, slowest, 'smtc-cut-bar'),
      h('p', {}, t('%1 for a microbatch', timeWords(stage.time, model))),
      memoryBar(stage, fullest),
      h('p', { class: isOver ? 'smtc-cut-over' : null }, memoryWords(stage)),
      h('p', { class: 'smtc-note' }, receivedWords(stage, this.place))
    ]);
  }

  private readonly _head = h('div', { class: 'smtc-stage-head' });
}

/**
 * Return a bar of what a stage holds, with a line where its device ends.
 */
function memoryBar(
  { heldBytes, limitBytes }: IPlannedStageInfo,
  fullest: number
): HTMLElement {
  const most = limitBytes === null ? fullest : Math.max(heldBytes, limitBytes);
  const element = bar(heldBytes, most, 'smtc-cut-bar smtc-cut-memory');
  if (limitBytes !== null && most > 0) {
    element.append(h('u', { style: `left: ${(100 * limitBytes) / most}%` }));
  }
  return element;
}
