import {
  scaledLearningRate,
  type Catalog,
  type IEnvironments,
  type IJob,
  type JsonObject
} from '@smtc-lab/protocol';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import { argumentsField } from '../forms/arguments_field.js';
import {
  batchSize,
  batchSizeIn,
  type IBatchSize
} from '../forms/batch_size.js';
import { clusterDesigner } from '../forms/cluster_designer.js';
import { compilerSettings } from '../forms/compiler_settings.js';
import type { IComponent } from '../forms/component.js';
import { environmentField } from '../forms/environment_field.js';
import { hyperparameters } from '../forms/hyperparameters.js';
import { numberField } from '../forms/number_field.js';
import { nameOf, problemsByPart } from './set_up_words.js';

/**
 * One set-up of the workbench.
 */
export interface ISetUpProps {
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
    this._batchSize = batchSizeIn(props.job.hyperparameters);
    this.element = h('section', { class: 'smtc-set-up' });
    const { job, catalog, environments } = props;
    this._cluster = clusterDesigner(this._part(t('Cluster'), true), {
      cluster: job.cluster,
      catalog,
      problems: problemsByPart(props).cluster,
      onChange: cluster => {
        this._change({ cluster });
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
      values: this._batchSize,
      jobSteps: job.maxSteps,
      onChange: changed => {
        this._changeBatchSize(changed);
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
    this._steps = numberField(this._scriptPart, {
      label: t('Steps of each launch'),
      value: job.maxSteps,
      min: 1,
      isWhole: true,
      placeholder: t('until the script ends'),
      onChange: maxSteps => {
        this._change({ maxSteps });
      }
    });
    this.element.prepend(this._head());
    host.append(this.element);
    this._show();
  }

  readonly element: HTMLElement;

  update(changed: Partial<ISetUpProps>): void {
    if (changed.job !== undefined) {
      this._followBatchSize(changed.job.hyperparameters);
    }
    this._props = { ...this._props, ...changed };
    this._show();
  }

  dispose(): void {
    this._cluster.dispose();
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
    const { job, catalog, environments, place } = this._props;
    const { canCopy, canRemove } = this._props;
    const problems = problemsByPart(this._props);
    const role = place === 0 ? t('baseline') : t('set-up %1', place + 1);
    const name = nameOf(job);
    const title = name === '' ? role : `${name}: ${role}`;
    this._title.textContent = title;
    this.element.setAttribute('aria-label', title);
    this.element.style.setProperty(
      '--smtc-own-color',
      `var(--smtc-color-${place % 5})`
    );
    this._copy.setAttribute('aria-label', t('Copy %1', title));
    this._remove.setAttribute('aria-label', t('Remove %1', title));
    this._copy.disabled = !canCopy;
    this._remove.disabled = !canRemove;
    this._cluster.update({
      cluster: job.cluster,
      catalog,
      problems: problems.cluster
    });
    this._environment.update({
      value: job.pythonEnvironment,
      environments,
      problems: problems.environment
    });
    this._unfold(this._compilerPart, problems.compiler.length > 0);
    this._unfold(this._scriptPart, problems.script.length > 0);
    this._compiler.update({
      config: job.compilerConfig,
      environments,
      pythonEnvironment: job.pythonEnvironment
    });
    this._batch.update({ values: this._batchSize, jobSteps: job.maxSteps });
    this._hyperparameters.update({ values: job.hyperparameters });
    this._arguments.update({
      value: job.arguments,
      problems: problems.script
    });
    this._steps.update({ value: job.maxSteps });
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
    this._show();
    this._props.onChange(job);
  }

  /**
   * Take note that the batch size has come or gone with the script.
   */
  private _followBatchSize(values: JsonObject): void {
    const { batchSizeName } = this._batchSize;
    const before = this._props.job.hyperparameters;
    if (batchSizeName in values !== batchSizeName in before) {
      const given = values[batchSizeName];
      const batchSize = typeof given === 'number' ? given : null;
      this._batchSize = { ...this._batchSize, batchSize };
    }
  }

  private _changeBatchSize(changed: Partial<IBatchSize>): void {
    this._batchSize = { ...this._batchSize, ...changed };
    const { batchSize, batchSizeName, learningRateName } = this._batchSize;
    const rate = scaledLearningRate({
      ...this._batchSize,
      jobSteps: this._props.job.maxSteps
    });
    const values: Record<string, unknown> = {
      ...this._props.job.hyperparameters
    };
    if (batchSize !== null) {
      values[batchSizeName] = batchSize;
    }
    if (rate !== null) {
      values[learningRateName] = rate.learningRate;
    }
    this._change({ hyperparameters: values });
  }

  private readonly _title = h('h3', { class: 'smtc-set-up-title' });
  private readonly _cluster: ReturnType<typeof clusterDesigner>;
  private readonly _environment: ReturnType<typeof environmentField>;
  private readonly _compilerPart: HTMLElement;
  private readonly _compiler: ReturnType<typeof compilerSettings>;
  private readonly _batch: ReturnType<typeof batchSize>;
  private readonly _hyperparameters: ReturnType<typeof hyperparameters>;
  private readonly _scriptPart: HTMLElement;
  private readonly _arguments: ReturnType<typeof argumentsField>;
  private readonly _steps: ReturnType<typeof numberField>;
  private readonly _withProblem = new Set<HTMLElement>();
  private _props: ISetUpProps;
  private _batchSize: IBatchSize;
  private _copy = h('button');
  private _remove = h('button');
}
