import './problem_box.css';
import { bounded } from '@smtc-lab/ui/bounded.js';
import { button, copied, h } from '@smtc-lab/ui/dom.js';
import type { Texts } from './texts.js';
import type { IProblem } from './tokens.js';

/**
 * Says what is wrong and what mends it, as soon as there is something to say.
 */
export class ProblemBox {
  readonly element = h('div', { class: 'jp-Smtc-problem', role: 'status' });

  /**
   * @param again - Try again.
   */
  constructor(
    private readonly _texts: Texts,
    private readonly _again: () => void
  ) {
    this.element.hidden = true;
  }

  /**
   * Show a problem; null: there is none any more.
   *
   * @param canTry - Whether the user can try again at once.
   */
  show(problem: IProblem | null, canTry: boolean): void {
    const key = JSON.stringify([problem, canTry]);
    if (key === this._shown) {
      return;
    }
    this._shown = key;
    this.element.hidden = problem === null;
    this.element.replaceChildren();
    if (problem !== null) {
      this.element.append(
        h('p', {}, ...bounded(problem.message)),
        ...(problem.command === null ? [] : this._command(problem.command)),
        ...(canTry ? [this._tryAgain()] : [])
      );
    }
  }

  private _command(command: string): readonly Node[] {
    const said = h('span', { role: 'status' });
    const code = h('code', { class: 'jp-Smtc-command' }, command);
    const copy = async (): Promise<void> => {
      said.textContent = (await copied(command, code))
        ? this._texts.__('Copied')
        : this._texts.__('Select the command to copy it');
    };
    return [code, button(this._texts.__('Copy'), () => void copy()), said];
  }

  private _tryAgain(): Node {
    return button(this._texts.__('Try again'), this._again);
  }

  private _shown = JSON.stringify([null, false]);
}
