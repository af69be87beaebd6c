import type { Catalog, IEnvironments, IJob } from '@smtc-lab/protocol';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import { paletteColor } from '../charts/theme.js';
import { argumentsField } from '../forms/arguments_field.js';
import { batchSize } from '../forms/batch_size.js';
import { compilerSettings } from '../forms/compiler_settings.js';
import type { IComponent } from '../forms/component.js';
import { distributionField } from '../forms/distribution_field.js';
import { environmentField } from '../forms/environment_field.js';
import { hyperparameters } from '../forms/hyperparameters.js';
import { stepsField } from '../forms/steps_field.js';
import type { IModel } from '../model.js';
import {
  clusterEditor,
  type IClusterEditorProps,
  type Look
} from '../picture/cluster_editor.js';
import { letterOf, setUpMark } from '../picture/set_up_mark.js';
import { SpotPart, type ISpotProps } from '../spot/part.js';
import { BatchOfJob } from './batch_of_job.js';
import { fillingOf, offersOf, offerText } from './foreseen.js';
import { ForeseenFigures, type IForesight } from './foreseen_figures.js';
import { nameOf, problemsByPart } from './set_up_words.js';

/**
 * One set-up of the workbench.
 */
export interface ISetUpProps {
  readonly model: IModel;
  readonly job: IJob;
  readonly catalog: Catalog;
  readonly environments: IEnvironments;

  /**
   * Its place, from 0. The first one is the baseline.
   */
  readonly place: number;

  /**
   * What Python found wrong with it.
   */
  readonly problems: readonly string[];

  readonly canCopy: boolean;
  readonly canRemove: boolean;

  /**
   * How its cluster is looked at.
   */
  readonly look: Look;

  /**
   * The first set-up, which the others are compared with.
   */
  readonly baseline: IJob;

  /**
   * What is predicted of it, and beside what.
   */
  readonly foresight: IForesight;

  /**
   * Have the environments looked for again, or the one of XLA made.
   */
  readonly onAsk: (what: 'environments' | 'make-xla') => void;
  readonly onChange: (job: IJob) => void;
  readonly onCopy: () => void;
  readonly onRemove: () => void;
}

/**
 * Make the form of one set-up: cluster, compiler, batch size, hyperparameters, arguments and steps.
 */
export function setUp(
  host: HTMLElement,
  props: ISetUpProps
): IComponent<ISetUpProps> {
  return new SetUp(host, props);
}

class SetUp implements IComponent<ISetUpProps> {
  constructor(host: HTMLElement, props: ISetUpProps) {
    this._props = props;
    this._batchOfJob = new BatchOfJob(props.job);
    this.element = h('section', { class: 'smtc-set-up' });
    const { job, environments } = props;
    this._cluster = clusterEditor(this._part(t('Cluster'), true), {
      ...this._clusterProps(),
      onChange: cluster => {
        this._change({ cluster });
      }
    });
    this._distribution = distributionField(this._part(t('Devices'), false), {
      job,
      onChange: changed => {
        this._change(changed);
      }
    });
    this._environment = environmentField(this.element, {
      value: job.pythonEnvironment,
      environments,
      problems: problemsByPart(props).environment,
      onOpen: () => {
        this._props.onAsk('environments');
      },
      onChange: pythonEnvironment => {
        this._change({ pythonEnvironment });
      }
    });
    this._compilerPart = this._part(t('Compiler'), false);
    this._compiler = compilerSettings(this._compilerPart, {
      config: job.compilerConfig,
      environments,
      pythonEnvironment: job.pythonEnvironment,
      onMake: () => {
        this._props.onAsk('make-xla');
      },
      onChange: compilerConfig => {
        this._change({ compilerConfig });
      }
    });
    this._batch = batchSize(this._part(t('Batch size'), false), {
      values: this._batchOfJob.values,
      jobSteps: job.maxSteps,
      onChange: changed => {
        this._change({
          hyperparameters: this._batchOfJob.changed(this._props.job, changed)
        });
      }
    });
    this._scriptPart = this._part(
      t('Hyperparameters, arguments, steps'),
      false
    );
    this._hyperparameters = hyperparameters(this._scriptPart, {
      values: job.hyperparameters,
      onChange: values => {
        this._change({ hyperparameters: values });
      }
    });
    this._arguments = argumentsField(this._scriptPart, {
      value: job.arguments,
      problems: problemsByPart(props).script,
      onChange: given => {
        this._change({ arguments: given });
      }
    });
    this._steps = stepsField(this._scriptPart, job.maxSteps, maxSteps => {
      this._change({ maxSteps });
    });
    this._spotPart = this._part(t('Interruptions'), false);
    this._spot = new SpotPart(this._spotPart, this._spotProps());
    this.element.prepend(this._head(), this._figures.element);
    host.append(this.element);
    this._show();
  }

  readonly element: HTMLElement;

  update(changed: Partial<ISetUpProps>): void {
    if (changed.job !== undefined) {
      this._batchOfJob.follow(
        this._props.job.hyperparameters,
        changed.job.hyperparameters
      );
    }
    this._props = { ...this._props, ...changed };
    this._show();
  }

  dispose(): void {
    this._cluster.dispose();
    this._spot.dispose();
    this.element.remove();
  }

  private _head(): HTMLElement {
    this._copy = button(t('Copy'), () => {
      this._props.onCopy();
    });
    this._remove = button(t('Remove'), () => {
      this._props.onRemove();
    });
    return h(
      'div',
      { class: 'smtc-row smtc-set-up-head' },
      this._mark,
      this._title,
      this._copy,
      this._remove
    );
  }

  private _part(label: string, isOpen: boolean): HTMLElement {
    const body = h('div', { class: 'smtc-part-body' });
    this.element.append(
      h('details', { open: isOpen }, h('summary', {}, label), body)
    );
    return body;
  }

  private _show(): void {
    const { job, environments, place } = this._props;
    const { canCopy, canRemove } = this._props;
    const problems = problemsByPart(this._props);
    const role = place === 0 ? t('baseline') : t('set-up %1', place + 1);
    const name = nameOf(job);
    const title = name === '' ? role : `${name}: ${role}`;
    this._title.textContent = title;
    this._mark.replaceChildren(setUpMark(place), ` ${letterOf(place)}`);
    this.element.setAttribute('aria-label', title);
    this.element.style.setProperty('--smtc-own-color', paletteColor(place));
    this._copy.setAttribute('aria-label', t('Copy %1', title));
    this._remove.setAttribute('aria-label', t('Remove %1', title));
    this._copy.disabled = !canCopy;
    this._remove.disabled = !canRemove;
    this._cluster.update(this._clusterProps());
    this._figures.show(
      this._props.foresight,
      place,
      this._props.problems.length > 0
    );
    this._environment.update({
      value: job.pythonEnvironment,
      environments,
      problems: problems.environment
    });
    this._unfold(this._compilerPart, problems.compiler.length > 0);
    this._unfold(this._scriptPart, problems.script.length > 0);
    this._unfold(this._spotPart, problems.spot.length > 0);
    this._spot.update(this._spotProps());
    this._compiler.update({
      config: job.compilerConfig,
      environments,
      pythonEnvironment: job.pythonEnvironment,
      measured: this._props.foresight.measured
    });
    this._batch.update({
      values: this._batchOfJob.values,
      jobSteps: job.maxSteps
    });
    this._hyperparameters.update({ values: job.hyperparameters });
    this._arguments.update({
      value: job.arguments,
      problems: problems.script
    });
    this._distribution.update({ job });
    this._steps.update({ value: job.maxSteps });
  }

  private _spotProps(): ISpotProps {
    return {
      ...this._props,
      problems: problemsByPart(this._props).spot,
      onChange: changed => {
        this._change(changed);
      }
    };
  }

  private _clusterProps(): Omit<IClusterEditorProps, 'onChange'> {
    const { job, catalog, look, place, baseline, foresight } = this._props;
    const { foreseen } = foresight;
    return {
      filling: {
        ...fillingOf(foreseen),
        // without a distribution an instance has one trainer
        usedDevices: job.rest['distribution'] == null ? 1 : null
      },
      offer: offerText(foreseen),
      offers: group => offersOf(foreseen, group, [...catalog.keys()]),
      look,
      cluster: job.cluster,
      catalog,
      problems: problemsByPart(this._props).cluster,
      baseline: place === 0 ? null : baseline.cluster
    };
  }

  /**
   * Unfold a part when something comes up there that keeps all from being run.
   */
  private _unfold(part: HTMLElement, hasProblem: boolean): void {
    if (!hasProblem) {
      this._withProblem.delete(part);
    } else if (!this._withProblem.has(part)) {
      this._withProblem.add(part);
      part.closest('details')?.setAttribute('open', '');
    }
  }

  private _change(changed: Partial<IJob>): void {
    const job = { ...this._props.job, ...changed };
    this._props = { ...this._props, job };
    this._props.onChange(job); // which shows all set-ups, this one too
  }

  private readonly _figures = new ForeseenFigures();
  private readonly _mark = h('span', {
    class: 'smtc-set-up-mark',
    'aria-hidden': 'true'
  });
  private readonly _title = h('h3', { class: 'smtc-set-up-title' });
  private readonly _cluster: ReturnType<typeof clusterEditor>;
  private readonly _distribution: ReturnType<typeof distributionField>;
  private readonly _environment: ReturnType<typeof environmentField>;
  private readonly _compilerPart: HTMLElement;
  private readonly _compiler: ReturnType<typeof compilerSettings>;
  private readonly _batch: ReturnType<typeof batchSize>;
  private readonly _hyperparameters: ReturnType<typeof hyperparameters>;
  private readonly _scriptPart: HTMLElement;
  private readonly _arguments: ReturnType<typeof argumentsField>;
  private readonly _steps: ReturnType<typeof stepsField>;
  private readonly _spotPart: HTMLElement;
  private readonly _spot: SpotPart;
  private readonly _withProblem = new Set<HTMLElement>();
  private _props: ISetUpProps;
  private readonly _batchOfJob: BatchOfJob;
  private _copy = h('button');
  private _remove = h('button');
}
