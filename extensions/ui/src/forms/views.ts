import {
  clusterToJson,
  parseCatalog,
  parseCluster,
  parseCompilerConfig,
  parseEnvironments,
  ProtocolError,
  type ICluster,
  type Rule
} from '@smtc-lab/protocol';
import { batchSize, type IBatchSize } from './batch_size.js';
import { batchSizeProblems } from './batch_size_rules.js';
import { clusterDesigner } from './cluster_designer.js';
import { codeBox } from './code_box.js';
import { compilerSettings } from './compiler_settings.js';
import { onChanges } from './component.js';
import { instanceTypePicker } from './instance_type_picker.js';
import { isKnown } from './typed_type.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import type { IModel, IView } from '../model.js';

/**
 * Chooses an instance type.
 */
export const instanceTypePickerView: IView = {
  initialize: () => null,
  render({ model, el }): () => void {
    const props = () => ({
      value: textOf(model, 'value'),
      catalog: parseCatalog(model.get('catalog'))
    });
    const picker = instanceTypePicker(el, {
      label: t('Instance type'),
      ...props(),
      onChange: value => {
        if (isKnown(value, props().catalog)) {
          save(model, { value }); // Python refuses others, and keeps what it has
        }
      }
    });
    const leave = onChanges(model, ['value'], () => {
      picker.update({ value: textOf(model, 'value') });
    });
    const leaveCatalog = onChanges(model, ['catalog'], () => {
      picker.update(props());
    });
    return () => {
      leave();
      leaveCatalog();
      picker.dispose();
    };
  }
};

/**
 * Builds a cluster.
 */
export const clusterDesignerView: IView = {
  initialize: () => null,
  render({ model, el }): () => void {
    const designer = clusterDesigner(el, {
      cluster: clusterOf(model),
      catalog: parseCatalog(model.get('catalog')),
      problems: textsOf(model, 'problems'),
      onChange: cluster => {
        save(model, { value: clusterToJson(cluster) });
      }
    });
    const code = codeSection(el, model);
    const leave = onChanges(model, ['value', 'problems'], () => {
      designer.update({
        cluster: clusterOf(model),
        problems: textsOf(model, 'problems')
      });
    });
    const leaveCatalog = onChanges(model, ['catalog'], () => {
      designer.update({ catalog: parseCatalog(model.get('catalog')) });
    });
    return () => {
      leave();
      leaveCatalog();
      code();
      designer.dispose();
    };
  }
};

const BATCH_TRAITS: Readonly<Record<keyof IBatchSize, string>> = {
  batchSize: 'batch_size',
  baseBatchSize: 'base_batch_size',
  learningRate: 'learning_rate',
  optimizer: 'optimizer',
  rule: 'rule',
  batchSizeName: 'batch_size_name',
  learningRateName: 'learning_rate_name'
};

/**
 * Compiler settings, and the batch size with its learning rate.
 */
export const compilerSettingsView: IView = {
  initialize: () => null,
  render({ model, el }): () => void {
    const compilerPart = h('fieldset', {}, h('legend', {}, t('Compiler')));
    const batchPart = h('fieldset', {}, h('legend', {}, t('Batch size')));
    el.append(compilerPart, batchPart);
    const settings = compilerSettings(compilerPart, {
      ...settingsOf(model),
      pythonEnvironment: null,
      onMake: () => {
        model.send({ type: 'make-xla' });
      },
      onChange: value => {
        save(model, { value });
      }
    });
    const batch = batchSize(batchPart, {
      ...batchOf(model),
      onChange: changed => {
        const traits = Object.entries(changed).map(([name, value]) => [
          BATCH_TRAITS[name as keyof IBatchSize],
          value
        ]);
        save(model, Object.fromEntries(traits) as Record<string, unknown>);
      }
    });
    const code = codeSection(el, model);
    const names = ['value', 'problems', 'environments', 'job_steps'];
    const watched = [...names, ...Object.values(BATCH_TRAITS)];
    const leave = onChanges(model, watched, () => {
      settings.update(settingsOf(model));
      batch.update(batchOf(model));
    });
    model.send({ type: 'environments' });
    return () => {
      leave();
      code();
      batch.dispose();
      settings.dispose();
    };
  }
};

function codeSection(el: HTMLElement, model: IModel): () => void {
  const section = h('details', {}, h('summary', {}, t('Code')));
  el.append(section);
  const box = codeBox(section, { code: textOf(model, 'code') });
  const leave = onChanges(model, ['code'], () => {
    box.update({ code: textOf(model, 'code') });
  });
  return () => {
    leave();
    section.remove();
  };
}

function settingsOf(model: IModel): {
  readonly config: ReturnType<typeof parseCompilerConfig>;
  readonly problems: readonly string[];
  readonly environments: ReturnType<typeof parseEnvironments>;
} {
  const placed = new Set(
    batchSizeProblems(batchOf(model).values).map(problem => problem.text)
  );
  const problems = textsOf(model, 'problems');
  return {
    config: parseCompilerConfig(model.get('value')),
    problems: problems.filter(text => !placed.has(text)),
    environments: parseEnvironments(model.get('environments'))
  };
}

function batchOf(model: IModel): {
  readonly values: IBatchSize;
  readonly jobSteps: number | null;
} {
  const rule = model.get('rule');
  return {
    values: {
      batchSize: numberOf(model, 'batch_size'),
      baseBatchSize: numberOf(model, 'base_batch_size'),
      learningRate: numberOf(model, 'learning_rate'),
      optimizer: textOf(model, 'optimizer'),
      rule: rule === 'linear' || rule === 'sqrt' ? (rule as Rule) : null,
      batchSizeName: textOf(model, 'batch_size_name'),
      learningRateName: textOf(model, 'learning_rate_name')
    },
    jobSteps: numberOf(model, 'job_steps')
  };
}

/**
 * Return the cluster of a model. What has not the form of one is an empty cluster: Python says
 * what is wrong with it, and the form lets the user begin anew.
 */
function clusterOf(model: IModel): ICluster {
  try {
    return parseCluster(model.get('value'));
  } catch (error) {
    if (error instanceof ProtocolError) {
      return { groups: [], name: null };
    }
    throw error;
  }
}

function save(model: IModel, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    model.set(name, value);
  }
  model.save_changes();
}

function numberOf(model: IModel, name: string): number | null {
  const value = model.get(name);
  return typeof value === 'number' ? value : null;
}

function textOf(model: IModel, name: string): string {
  const value = model.get(name);
  return typeof value === 'string' ? value : '';
}

function textsOf(model: IModel, name: string): readonly string[] {
  const value = model.get(name);
  return Array.isArray(value)
    ? value.filter(text => typeof text === 'string')
    : [];
}
