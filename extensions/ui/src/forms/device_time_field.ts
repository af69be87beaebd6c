import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Component, type IComponent } from './component.js';
import { Field } from './field.js';

/**
 * A field for the time of a step on the accelerator: one, or one for each kind.
 */
export interface IDeviceTimeFieldProps {
  /**
   * What stands in the set-ups: seconds, a line as `DeviceTimes.parse` reads it, or null.
   */
  readonly value: unknown;

  /**
   * What Python found wrong with it.
   */
  readonly problems: readonly string[];

  /**
   * Called with seconds, or the line, while it is typed; null where it is empty.
   */
  readonly onChange: (value: number | string | null) => void;
}

/**
 * Make a field for device times.
 */
export function deviceTimeField(
  host: HTMLElement,
  props: IDeviceTimeFieldProps
): IComponent<IDeviceTimeFieldProps> {
  return new DeviceTimeField(host, props);
}

/**
 * Return what a typed text says: seconds where it is a number, null where it is empty.
 */
export function deviceTimeOf(text: string): number | string | null {
  const line = text.trim();
  if (line === '') {
    return null;
  }
  const seconds = Number(line);
  return Number.isFinite(seconds) ? seconds : line;
}

class DeviceTimeField extends Component<IDeviceTimeFieldProps> {
  constructor(host: HTMLElement, props: IDeviceTimeFieldProps) {
    super(props);
    this.element = this._field.element;
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    const { value, problems } = this.props;
    // what stands there may be written otherwise, as 0.030, and mean the same
    if (value !== deviceTimeOf(this._control.value)) {
      this._control.value =
        typeof value === 'number' || typeof value === 'string'
          ? String(value)
          : '';
    }
    this._field.showProblems(problems);
  }

  private readonly _control = h('input', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: t('no such device'),
    oninput: () => {
      this.props.onChange(deviceTimeOf(this._control.value));
    }
  });
  private readonly _field = new Field(
    t('Accelerator: seconds per step'),
    this._control,
    t(
      'Seconds of one step on the real accelerator; of several kinds ``V100=0.03,A100=0.012``. Time a few steps there, or take a published throughput: batch size over samples per second.'
    )
  );
}
