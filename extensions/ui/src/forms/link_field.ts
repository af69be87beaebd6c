import { LINK_LATENCY_S } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Component, type IComponent } from './component.js';
import { Field } from './field.js';

/**
 * A field for the network that an emulation declares between trainers, in one line.
 */
export interface ILinkFieldProps {
  /**
   * What `Emulation.link` is: null, its line, or its fields.
   */
  readonly value: unknown;

  /**
   * What Python found wrong with it.
   */
  readonly problems: readonly string[];

  /**
   * Called with the line while it is typed, null where it is empty.
   */
  readonly onChange: (line: string | null) => void;
}

/**
 * Make a field for a declared network.
 */
export function linkField(
  host: HTMLElement,
  props: ILinkFieldProps
): IComponent<ILinkFieldProps> {
  return new LinkField(host, props);
}

/**
 * Return a declared network as its line, as `EmulatedLink.parse` reads it; empty: none is.
 */
export function linkLine(value: unknown): string {
  if (typeof value === 'string') {
    return value;
  }
  if (typeof value !== 'object' || value === null) {
    return '';
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const between = `between=${wire(fields, 'between')}`;
  return typeof fields['inside_gbps'] === 'number'
    ? `inside=${wire(fields, 'inside')},${between}`
    : between;
}

class LinkField extends Component<ILinkFieldProps> {
  constructor(host: HTMLElement, props: ILinkFieldProps) {
    super(props);
    this.element = this._field.element;
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    const { value, problems } = this.props;
    const line = linkLine(value);
    // what is being typed may be written otherwise, and mean the same
    if (line !== this._typed && document.activeElement !== this._control) {
      this._typed = null;
      this._control.value = line;
    }
    this._field.showProblems(problems);
  }

  private _read(): void {
    this._typed = this._control.value.trim();
    this.props.onChange(this._typed === '' ? null : this._typed);
  }

  private readonly _control = h('input', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: t('as fast as this machine'),
    oninput: () => {
      this._read();
    }
  });
  private readonly _field = new Field(
    t('Emulated network between trainers'),
    this._control,
    t(
      'Bandwidth and latency inside an instance and between instances: ``inside=10Gbit/20us,between=1Gbit/100us``. ``between=catalog`` takes the rated bandwidth of the types.'
    )
  );
  private _typed: string | null = null;
}

function wire(
  fields: Readonly<Record<string, unknown>>,
  name: keyof typeof LINK_LATENCY_S
): string {
  const gbps = fields[`${name}_gbps`];
  const given = fields[`${name}_latency_s`];
  const seconds = typeof given === 'number' ? given : LINK_LATENCY_S[name];
  const bandwidth =
    typeof gbps === 'number' ? `${rounded(gbps)}Gbit` : 'catalog';
  return `${bandwidth}/${rounded(1e6 * seconds)}us`;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(12)));
}
