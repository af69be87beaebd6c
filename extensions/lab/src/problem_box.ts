import './problem_box.css';
import { h } from '@smtc-lab/ui/dom.js';
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
        h('p', {}, problem.message),
        ...(problem.command === null ? [] : this._command(problem.command)),
        ...(canTry ? [this._tryAgain()] : [])
      );
    }
  }

  private _command(command: string): readonly Node[] {
    const said = h('span', { role: 'status' });
    const copy = async (): Promise<void> => {
      try {
        await navigator.clipboard.writeText(command);
        said.textContent = this._texts.__('Copied');
      } catch {
        // a page that is not served safely has no clipboard
        said.textContent = this._texts.__('Select the command to copy it');
      }
    };
    return [
      h('code', { class: 'jp-Smtc-command' }, command),
      h(
        'button',
        { type: 'button', onclick: () => void copy() },
        this._texts.__('Copy')
      ),
      said
    ];
  }

  private _tryAgain(): Node {
    return h(
      'button',
      { type: 'button', onclick: this._again },
      this._texts.__('Try again')
    );
  }

  private _shown = JSON.stringify([null, false]);
}
