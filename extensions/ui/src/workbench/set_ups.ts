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
import { setUp, type ISetUpProps } from './set_up.js';

const MOST = 5;

/**
 * The set-ups of the workbench, side by side. What is typed goes to the model's `value`.
 */
export class SetUps {
  constructor(private readonly _model: IModel) {
    this._jobs = this._read();
    this.element = h(
      'div',
      { class: 'smtc-set-ups' },
      this._grid,
      h('div', { class: 'smtc-row' }, this._add)
    );
    this._fill();
  }

  readonly element: HTMLElement;

  /**
   * The set-ups as they are typed.
   */
  get jobs(): readonly IJob[] {
    return this._jobs;
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
    this._jobs = this._jobs.map(change);
    this._show();
    this._save();
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
    this._cards = this._jobs.map((job, place) =>
      setUp(this._grid, this._props(job, place))
    );
    this._show();
  }

  private _show(): void {
    this._jobs.forEach((job, place) => {
      this._cards[place]?.update(this._props(job, place));
    });
    this._add.disabled = this._jobs.length >= MOST;
  }

  private _props(job: IJob, place: number): ISetUpProps {
    const problems = this._model.get('problems');
    const own: unknown = Array.isArray(problems) ? problems[place] : [];
    return {
      job,
      catalog: parseCatalog(this._model.get('catalog')),
      environments: parseEnvironments(this._model.get('environments')),
      place,
      problems: Array.isArray(own) ? own.map(String) : [],
      canCopy: this._jobs.length < MOST,
      canRemove: this._jobs.length > 1,
      onAsk: type => {
        this._model.send({ type });
      },
      onChange: changed => {
        this._jobs = this._jobs.map((other, at) =>
          at === place ? changed : other
        );
        this._save();
      },
      onCopy: () => {
        this._insert(place);
      },
      onRemove: () => {
        this._jobs = this._jobs.filter((_, other) => other !== place);
        this._fill();
        this._focus(Math.min(place, this._jobs.length - 1));
        this._save();
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
      const cluster = {
        ...job.cluster,
        name: freeName(job.cluster.name, names)
      };
      this._jobs = [
        ...this._jobs.slice(0, place + 1),
        { ...job, cluster },
        ...this._jobs.slice(place + 1)
      ];
      this._fill();
      this._focus(place + 1);
      this._save();
    }
  }

  private _focus(place: number): void {
    this._cards[place]?.element
      .querySelector<HTMLElement>('input, select, button')
      ?.focus();
  }

  private _save(): void {
    this._model.set('value', this._jobs.map(jobToJson));
    this._model.save_changes();
  }

  private readonly _grid = h('div', { class: 'smtc-set-up-grid' });
  private readonly _add = button(t('Add a set-up'), () => {
    this._insert(this._jobs.length - 1);
  });
  private _jobs: readonly IJob[];
  private _cards: readonly IComponent<ISetUpProps>[] = [];
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
