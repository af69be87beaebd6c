import { objectOf, type IJob, type JsonObject } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Component, type IComponent } from './component.js';
import { numberField, type INumberFieldProps } from './number_field.js';

/**
 * How a job is spread over devices: replicas of the model, and trainers that share one.
 */
export interface IDistributionProps {
  readonly job: IJob;

  /**
   * Called with the job as it is wanted.
   */
  readonly onChange: (job: IJob) => void;
}

/**
 * Make the two fields of a distribution. Both empty: one trainer on each training instance.
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
    this._data = numberField(this.element, {
      ...this._field('data'),
      label: t('Replicas of the model'),
      placeholder: t('one on each training instance')
    });
    this._shard = numberField(this.element, {
      ...this._field('shard'),
      label: t('Devices that share one replica'),
      placeholder: t('1: not shared')
    });
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    this._data.update(this._field('data'));
    this._shard.update(this._field('shard'));
  }

  private _field(
    name: 'data' | 'shard'
  ): Pick<INumberFieldProps, 'value' | 'min' | 'isWhole' | 'onChange'> {
    const value = distributionOf(this.props.job)?.[name];
    const isSaid = typeof value === 'number' && (name === 'data' || value > 1);
    return {
      value: isSaid ? value : null,
      min: 1,
      isWhole: true,
      onChange: count => {
        const { job } = this.props;
        this.props.onChange(withCount(job, name, count));
      }
    };
  }

  private readonly _data: IComponent<INumberFieldProps>;
  private readonly _shard: IComponent<INumberFieldProps>;
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

function withCount(
  job: IJob,
  name: 'data' | 'shard',
  count: number | null
): IJob {
  const before = distributionOf(job) ?? {};
  const left = Object.entries(before).filter(
    ([other, value]) => other !== name && value !== null
  );
  const fields = Object.fromEntries(
    count === null ? left : [...left, [name, count]]
  );
  const isPlain = fields['data'] === undefined && (fields['shard'] ?? 1) === 1;
  return {
    ...job,
    rest: { ...job.rest, distribution: isPlain ? null : fields }
  };
}
