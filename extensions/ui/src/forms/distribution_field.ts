import { objectOf, type IJob, type JsonObject } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { mark, t } from '../i18n.js';
import { Component, type IComponent } from './component.js';
import { Field, selectOf } from './field.js';
import { numberField, type INumberFieldProps } from './number_field.js';

/**
 * Fields that are counts: name, label, and what an empty one means.
 */
const COUNTS = [
  [
    'data',
    mark('Replicas of the model'),
    mark('one on each training instance')
  ],
  ['shard', mark('Devices that share one replica'), mark('1: not shared')],
  ['tensor', mark('Devices that share each layer'), mark('1: not shared')],
  ['pipeline', mark('Stages of a pipeline'), mark('1: not cut')],
  ['microbatches', mark('Microbatches of a step'), mark('two for each stage')]
] as const;

type Count = (typeof COUNTS)[number][0];
type Name = Count | 'schedule';

const OF_A_PIPELINE: readonly string[] = ['microbatches', 'schedule'];

/**
 * Values that say nothing, as JSON.
 */
const PLAIN = /^([01]|false|"1f1b"|\[]|{})$/;
const SCHEDULES = [
  '1f1b',
  'gpipe',
  'interleaved1f1b',
  'loopedbfs',
  'interleavedzerobubble',
  'zbvzerobubble',
  'dualpipev'
] as const;

/**
 * How a job is spread over devices: replicas of the model, and trainers that share one, or each
 * run a stage of it.
 */
export interface IDistributionProps {
  readonly job: IJob;

  /**
   * Called with the job as it is wanted.
   */
  readonly onChange: (job: IJob) => void;
}

/**
 * Make the fields of a distribution. All empty: one trainer on each training instance.
 */
export function distributionField(
  host: HTMLElement,
  props: IDistributionProps
): IComponent<IDistributionProps> {
  return new DistributionField(host, props);
}

class DistributionField extends Component<IDistributionProps> {
  constructor(host: HTMLElement, props: IDistributionProps) {
    super(props);
    this.element = h('div', { class: 'smtc-row' });
    this._counts = COUNTS.map(([name, label, placeholder]) => [
      name,
      numberField(this.element, {
        ...this._field(name),
        label: t(label),
        placeholder: t(placeholder)
      })
    ]);
    this.element.append(this._schedule.element);
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    const spread = distributionOf(this.props.job);
    const whyOff = isCut(spread) ? null : t('Needs a pipeline.');
    for (const [name, field] of this._counts) {
      field.update({
        ...this._field(name),
        whyOff: name === 'microbatches' ? whyOff : null
      });
    }
    this._schedule.switchOff(whyOff);
    const order = spread?.['schedule'];
    this._order.value = typeof order === 'string' ? order : SCHEDULES[0];
  }

  private _field(
    name: Count
  ): Pick<INumberFieldProps, 'value' | 'min' | 'isWhole' | 'onChange'> {
    const value = distributionOf(this.props.job)?.[name];
    const isPlain = !['data', 'microbatches'].includes(name) && value === 1;
    const isSaid = typeof value === 'number' && !isPlain;
    return {
      value: isSaid ? value : null,
      min: 1,
      isWhole: true,
      onChange: count => {
        const { job } = this.props;
        this.props.onChange(withField(job, name, count));
      }
    };
  }

  private readonly _order = selectOf(
    SCHEDULES.map(name => [name, name] as const),
    word => {
      const { job } = this.props;
      const schedule = word === SCHEDULES[0] ? null : word;
      this.props.onChange(withField(job, 'schedule', schedule));
    }
  );
  private readonly _schedule = new Field(t('Order of the stages'), this._order);
  private readonly _counts: readonly (readonly [
    Count,
    IComponent<INumberFieldProps>
  ])[];
}

function isCut(spread: JsonObject | null): boolean {
  return Number(spread?.['pipeline'] ?? 1) > 1;
}

/**
 * Return the fields of a job's distribution; null: it has none, or says "auto".
 */
export function distributionOf(job: IJob): JsonObject | null {
  const given = job.rest['distribution'] ?? null;
  return given === null || given === 'auto'
    ? null
    : objectOf(given, 'Distribution');
}

/**
 * Return a job with another field of its distribution; null: without that field. A distribution
 * that says nothing is none.
 */
export function withField(
  job: IJob,
  name: Name,
  given: number | string | null
): IJob {
  const before = distributionOf(job) ?? {};
  const left = Object.entries(before).filter(
    ([other, value]) => other !== name && value !== null
  );
  const all = Object.fromEntries(
    given === null ? left : [...left, [name, given]]
  ) as JsonObject;
  // without a pipeline nothing goes through its stages
  const fields = isCut(all)
    ? all
    : Object.fromEntries(
        Object.entries(all).filter(([other]) => !OF_A_PIPELINE.includes(other))
      );
  const isPlain = Object.entries(fields).every(
    ([field, value]) => field !== 'data' && PLAIN.test(JSON.stringify(value))
  );
  return {
    ...job,
    rest: { ...job.rest, distribution: isPlain ? null : fields }
  };
}
