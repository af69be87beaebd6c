import {
  defaultRule,
  scaledLearningRate,
  type ILearningRate,
  type JsonObject,
  type Rule
} from '@smtc-lab/protocol';
import { batchSizeProblems } from './batch_size_rules.js';
import { Component, type IComponent } from './component.js';
import { Field, selectOf, setOptions } from './field.js';
import { numberField, type INumberFieldProps } from './number_field.js';
import { paragraph } from '../bounded.js';
import { h, newId } from '../dom.js';
import { mark, t } from '../i18n.js';
import { patch } from '../patch.js';

/**
 * Numbers and names of the form for the batch size. Null: not given.
 */
export interface IBatchSize {
  /**
   * Samples of a step over all devices; null: the script's own.
   */
  readonly batchSize: number | null;

  /**
   * Batch size that `learningRate` suits.
   */
  readonly baseBatchSize: number | null;

  readonly learningRate: number | null;

  /**
   * Class name of the optimizer.
   */
  readonly optimizer: string;

  /**
   * Null: the one that suits the optimizer.
   */
  readonly rule: Rule | null;

  /**
   * Names of the hyperparameters that the script takes the values from.
   */
  readonly batchSizeName: string;

  readonly learningRateName: string;
}

/**
 * A form for the batch size.
 */
export interface IBatchSizeProps {
  readonly values: IBatchSize;

  /**
   * Steps of the job; null: unknown.
   */
  readonly jobSteps: number | null;

  readonly onChange: (changed: Partial<IBatchSize>) => void;
}

const NO_BATCH_SIZE: IBatchSize = {
  batchSize: null,
  baseBatchSize: null,
  learningRate: null,
  optimizer: 'AdamW',
  rule: null,
  batchSizeName: 'batch_size',
  learningRateName: 'learning_rate'
};

/**
 * Return what a job's hyperparameters tell of its batch size.
 */
export function batchSizeIn(values: JsonObject): IBatchSize {
  const given = values[NO_BATCH_SIZE.batchSizeName];
  const batchSize = typeof given === 'number' ? given : null;
  return { ...NO_BATCH_SIZE, batchSize };
}

const OPTIMIZERS = ['AdamW', 'Adam', 'SGD', 'RMSprop', 'Adagrad', 'LAMB'];

const NUMBERS = [
  ['batchSize', mark('Batch size'), mark('the script’s own')],
  ['baseBatchSize', mark('Batch size that was tuned'), mark('not known')],
  ['learningRate', mark('Its learning rate'), mark('not known')]
] as const;

type NumberName = (typeof NUMBERS)[number][0];
type TextName = 'batchSizeName' | 'learningRateName' | 'optimizer';

/**
 * Make a form that suggests a learning rate for another batch size.
 */
export function batchSize(
  host: HTMLElement,
  props: IBatchSizeProps
): IComponent<IBatchSizeProps> {
  return new BatchSize(host, props);
}

class BatchSize extends Component<IBatchSizeProps> {
  constructor(host: HTMLElement, props: IBatchSizeProps) {
    super(props);
    const row = h('div', { class: 'smtc-row' });
    for (const [name, label, placeholder] of NUMBERS) {
      this._numbers.set(
        name,
        this._numberField(row, name, t(label), t(placeholder))
      );
    }
    const optimizer = this._textField('optimizer', t('Optimizer'));
    const optimizers = h(
      'datalist',
      { id: newId() },
      ...OPTIMIZERS.map(name => h('option', { value: name }))
    );
    optimizer.control.setAttribute('list', optimizers.id);
    row.append(
      optimizer.element,
      optimizers,
      new Field(t('Rule'), this._rule).element,
      this._textField('batchSizeName', t('Batch size is passed as')).element,
      this._textField('learningRateName', t('Learning rate is passed as'))
        .element
    );
    this.element = h('div', { class: 'smtc-batch' }, row, this._suggestion);
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    const { jobSteps, values } = this.props;
    const problems = batchSizeProblems(values);
    const problemsOf = (name: keyof IBatchSize): readonly string[] =>
      problems.filter(({ field }) => field === name).map(({ text }) => text);
    for (const [name, field] of this._numbers) {
      field.update({ value: values[name], problems: problemsOf(name) });
    }
    for (const [name, field] of this._texts) {
      if (field.control.value !== values[name]) {
        field.control.value = values[name];
      }
      field.showProblems(problemsOf(name));
    }
    setOptions(this._rule, ruleOptions(values.optimizer));
    this._rule.value = values.rule ?? '';
    const made = scaledLearningRate({ ...values, jobSteps });
    patch(this._suggestion, suggestionNodes(made, values));
  }

  private _change(changed: Partial<IBatchSize>): void {
    const values = { ...this.props.values, ...changed };
    this.props = { ...this.props, values };
    this.show();
    this.props.onChange(changed);
  }

  private _numberField(
    row: HTMLElement,
    name: NumberName,
    label: string,
    placeholder: string
  ): IComponent<INumberFieldProps> {
    const isWhole = name !== 'learningRate';
    return numberField(row, {
      label,
      placeholder,
      isWhole,
      min: isWhole ? 1 : 0,
      value: this.props.values[name],
      onChange: value => {
        this._change({ [name]: value });
      }
    });
  }

  private _textField(name: TextName, label: string): Field {
    const input = h('input', {
      type: 'text',
      spellcheck: 'false',
      autocomplete: 'off',
      oninput: () => {
        this._change({ [name]: input.value });
      }
    });
    const field = new Field(label, input);
    this._texts.set(name, field);
    return field;
  }

  private readonly _numbers = new Map<
    NumberName,
    IComponent<INumberFieldProps>
  >();
  private readonly _texts = new Map<TextName, Field>();
  private readonly _rule = selectOf([], value => {
    this._change({ rule: value === '' ? null : (value as Rule) });
  });
  private readonly _suggestion = h('div', {
    class: 'smtc-suggestion',
    role: 'status'
  });
}

function ruleOptions(
  optimizer: string
): readonly (readonly [string, string])[] {
  return [
    ['', t('automatic: %1', t(RULES[defaultRule(optimizer)]))],
    ['linear', t(RULES.linear)],
    ['sqrt', t(RULES.sqrt)]
  ];
}

const RULES: Readonly<Record<Rule, string>> = {
  linear: mark('in proportion to the batch'),
  sqrt: mark('with its square root')
};

function suggestionNodes(
  made: ILearningRate | null,
  values: IBatchSize
): readonly Node[] {
  if (made === null) {
    const text = t(
      'With a batch size, the one that was tuned and its learning rate, a learning rate is suggested here.'
    );
    return [paragraph(text)];
  }
  const rate = Number(made.learningRate.toPrecision(3));
  const warmUp =
    made.warmUpSteps > 0
      ? t(', raised over the first %1 steps', made.warmUpSteps)
      : '';
  return [
    h(
      'p',
      {},
      t('Suggested: '),
      h('code', {}, `${values.learningRateName}=${rate}`),
      `${warmUp}.`
    ),
    paragraph(made.reason)
  ];
}
