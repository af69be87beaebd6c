import {
  jobToJson,
  parseCatalog,
  parseEnvironments,
  parseJob,
  type IJob
} from '@smtc-lab/protocol';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import { isSameJson, type IComponent } from '../forms/component.js';
import type { IModel } from '../model.js';
import type { Look } from '../picture/cluster_editor.js';
import type { History } from './history.js';
import { historyOf, keepHistory } from './kept_history.js';
import { foresightsOf, type IForesight } from './foreseen_figures.js';
import { setUp, type ISetUpProps } from './set_up.js';
import { TemplateButtons } from './template_buttons.js';
import type { ITemplate } from './templates.js';

const MOST = 5;

/**
 * The set-ups of the workbench, side by side. What is typed goes to the model's `value`.
 */
export class SetUps {
  constructor(private readonly _model: IModel) {
    this._jobs = this._read();
    this._history = historyOf(_model);
    this.element = h(
      'div',
      { class: 'smtc-set-ups', onkeydown: this._onKey },
      this._grid,
      h('div', { class: 'smtc-row' }, this._add)
    );
    this._fill();
  }

  readonly element: HTMLElement;

  /**
   * Buttons that go back and forth between what the set-ups were.
   */
  readonly steps = h('span', { class: 'smtc-steps' });

  /**
   * Buttons that add a set-up like the baseline but for one thing.
   */
  readonly templates = new TemplateButtons(template => {
    this._apply(template);
  });

  /**
   * Place of the set-up that was changed last, or chosen for what comes; at first the last one.
   */
  changed = Infinity;

  /**
   * The set-ups as they are typed.
   */
  get jobs(): readonly IJob[] {
    return this._jobs;
  }

  /**
   * Look at all clusters alike.
   */
  look(look: Look): void {
    this._look = look;
    this._show();
  }

  /**
   * Show what Python has: other set-ups, or what is wrong with these.
   */
  update(): void {
    const jobs = this._read();
    if (!isSameJson(jobs.map(jobToJson), this._jobs.map(jobToJson))) {
      const isSameCount = jobs.length === this._jobs.length;
      this._jobs = jobs;
      if (!isSameCount) {
        this._fill();
        return;
      }
    }
    this._show();
  }

  /**
   * Change all set-ups alike.
   */
  changeAll(change: (job: IJob) => IJob): void {
    this._set(this._jobs.map(change), 'all');
    this._show();
  }

  /**
   * Change the set-up at a place.
   */
  change(place: number, change: (job: IJob) => IJob): void {
    const jobs = this._jobs.map((job, at) =>
      at === place ? change(job) : job
    );
    this.changed = place;
    this._set(jobs, `set-up ${place}`);
    this._show(); // what sets the others apart from it
  }

  dispose(): void {
    this._cards.forEach(card => {
      card.dispose();
    });
    this.element.remove();
  }

  private _read(): readonly IJob[] {
    const value = this._model.get('value');
    return Array.isArray(value) ? value.map(item => parseJob(item)) : [];
  }

  private _fill(): void {
    this._cards.forEach(card => {
      card.dispose();
    });
    const foresight = foresightsOf(this._model);
    this._cards = this._jobs.map((job, place) =>
      setUp(this._grid, this._props(job, place, foresight(place)))
    );
    this._show();
  }

  private _show(): void {
    const foresight = foresightsOf(this._model);
    this._jobs.forEach((job, place) => {
      this._cards[place]?.update(this._props(job, place, foresight(place)));
    });
    this._add.disabled = this._jobs.length >= MOST;
    this._undo.disabled = !this._history.canUndo;
    this._redo.disabled = !this._history.canRedo;
    this.templates.show(
      this._jobs.length < MOST ? this._jobs[0] : undefined,
      parseCatalog(this._model.get('catalog'))
    );
  }

  private _props(job: IJob, place: number, foresight: IForesight): ISetUpProps {
    const problems = this._model.get('problems');
    const own: unknown = Array.isArray(problems) ? problems[place] : [];
    return {
      model: this._model,
      job,
      catalog: parseCatalog(this._model.get('catalog')),
      environments: parseEnvironments(this._model.get('environments')),
      place,
      problems: Array.isArray(own) ? own.map(String) : [],
      canCopy: this._jobs.length < MOST,
      canRemove: this._jobs.length > 1,
      look: this._look,
      foresight,
      baseline: this._jobs[0] ?? job,
      onAsk: type => {
        this._model.send({ type });
      },
      onChange: changed => {
        this.change(place, () => changed);
      },
      onCopy: () => {
        this._insert(place);
      },
      onRemove: () => {
        this._set(
          this._jobs.filter((_, other) => other !== place),
          'remove'
        );
        this._fill();
        this._focus(Math.min(place, this._jobs.length - 1));
      }
    };
  }

  /**
   * Add a copy behind a set-up, under a name of its own.
   */
  private _insert(place: number): void {
    const job = this._jobs[place];
    if (job !== undefined) {
      const names = this._jobs.map(other => other.cluster.name);
      const name = freeName(job.cluster.name, names);
      this._insertAt(place + 1, { ...job, cluster: { ...job.cluster, name } });
    }
  }

  private _apply(template: ITemplate): void {
    const catalog = parseCatalog(this._model.get('catalog'));
    const made = this._jobs[0] && template.of(this._jobs[0], catalog);
    if (made != null) {
      const names = this._jobs.map(other => other.cluster.name);
      const wish = t(template.name);
      const name = names.includes(wish) ? freeName(wish, names) : wish;
      this._insertAt(this._jobs.length, {
        ...made,
        cluster: { ...made.cluster, name }
      });
    }
  }

  private _insertAt(place: number, job: IJob): void {
    const jobs = [...this._jobs];
    jobs.splice(place, 0, job);
    this._set(jobs, 'insert');
    this._fill();
    this._focus(place);
  }

  private _focus(place: number): void {
    this._cards[place]?.element
      .querySelector<HTMLElement>(
        ':is(input, select, button):not([aria-label^="Copy"]):enabled'
      )
      ?.focus();
  }

  private _set(jobs: readonly IJob[], gesture: string): void {
    this._history.leave(this._jobs, gesture);
    this._keep(jobs);
  }

  private _keep(jobs: readonly IJob[]): void {
    this._jobs = jobs;
    keepHistory(this._model, this._history);
    this._model.set('value', jobs.map(jobToJson));
    this._model.save_changes();
  }

  private _goTo(jobs: readonly IJob[] | null): void {
    if (jobs !== null) {
      const isSameCount = jobs.length === this._jobs.length;
      this._keep(jobs);
      if (isSameCount) {
        this._show();
      } else {
        this._fill();
      }
    }
  }

  private readonly _onKey = (event: KeyboardEvent): void => {
    const isText =
      event.target instanceof HTMLInputElement ||
      event.target instanceof HTMLTextAreaElement;
    const isUndo =
      (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z';
    if (isUndo && !isText) {
      event.preventDefault();
      (event.shiftKey ? this._redo : this._undo).click();
    }
  };

  private readonly _grid = h('div', { class: 'smtc-set-up-grid' });
  private readonly _add = button(t('Add a set-up'), () => {
    this._insert(this._jobs.length - 1);
  });
  private readonly _history: History<readonly IJob[]>;
  private readonly _undo = this._step(t('Undo'), () =>
    this._history.undo(this._jobs)
  );
  private readonly _redo = this._step(t('Redo'), () =>
    this._history.redo(this._jobs)
  );
  private _look: Look = 'picture';
  private _jobs: readonly IJob[];
  private _cards: readonly IComponent<ISetUpProps>[] = [];

  private _step(
    words: string,
    go: () => readonly IJob[] | null
  ): HTMLButtonElement {
    const made = button(words, () => {
      this._goTo(go());
    });
    this.steps.append(made);
    return made;
  }
}

/**
 * Return a name that none of the others has.
 */
export function freeName(
  name: string | null,
  others: readonly (string | null)[]
): string {
  const stem = (name ?? '').replace(/-\d+$/, '') || 'set-up';
  let number = 2;
  while (others.includes(`${stem}-${number}`)) {
    number += 1;
  }
  return `${stem}-${number}`;
}
