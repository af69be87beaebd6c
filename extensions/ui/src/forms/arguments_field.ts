import { joinArguments, splitArguments, type Open } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Component, isSameJson, type IComponent } from './component.js';
import { Field } from './field.js';

/**
 * The arguments of a script, in one line.
 */
export interface IArgumentsFieldProps {
  /**
   * A text: a line that cannot be split.
   */
  readonly value: readonly string[] | string;

  /**
   * What Python found wrong with them.
   */
  readonly problems: readonly string[];

  /**
   * Called with every change; with the line itself while it cannot be split.
   */
  readonly onChange: (value: readonly string[] | string) => void;
}

/**
 * Make a field for arguments, split as a shell splits them. What is typed stays as it is, as long
 * as it means the same; what comes from Python is quoted.
 */
export function argumentsField(
  host: HTMLElement,
  props: IArgumentsFieldProps
): IComponent<IArgumentsFieldProps> {
  return new ArgumentsField(host, props);
}

class ArgumentsField extends Component<IArgumentsFieldProps> {
  constructor(host: HTMLElement, props: IArgumentsFieldProps) {
    super(props);
    this.element = this._field.element;
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    const { value, problems } = this.props;
    const split = splitArguments(this._control.value);
    const shown = typeof split === 'string' ? this._control.value : split;
    if (!isSameJson(value, shown)) {
      this._control.value =
        typeof value === 'string' ? value : joinArguments(value);
    }
    const isLine = typeof value === 'string' || !/[\r\n]/.test(value.join(''));
    this._field.switchOff(
      isLine
        ? null
        : t(
            'An argument has a line break, which one line cannot hold. Change it in Python.'
          )
    );
    const open = splitArguments(this._control.value);
    this._field.showProblems(
      typeof open === 'string' ? [openProblem(open)] : problems
    );
  }

  private _read(): void {
    const line = this._control.value;
    const split = splitArguments(line);
    const value = typeof split === 'string' ? line : split;
    this.update({ value, problems: [] });
    this.props.onChange(value);
  }

  private readonly _control = h('input', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: t('none'),
    oninput: () => {
      this._read();
    }
  });
  private readonly _field = new Field(
    t('Arguments'),
    this._control,
    t(
      'In one line, as behind the script in a shell: ``--dummy --name "two words"``. Nothing but quotes and backslashes is read.'
    )
  );
}

function openProblem(open: Open): string {
  return open === '\\'
    ? t('Nothing stands behind the last \\. Drop it, or write it twice.')
    : t('The quote %1 is not closed. Close it, or put a \\ before it.', open);
}
