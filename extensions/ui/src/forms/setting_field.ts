import {
  COMPILER_WORDS,
  compilerHelp,
  MAX_TIMEOUT_S,
  type CompilerSetting
} from '@smtc-lab/protocol';
import { Field, selectOf } from './field.js';
import { numberField } from './number_field.js';
import { h } from '../dom.js';

/**
 * The control of one compiler setting.
 */
export interface ISettingField {
  readonly element: HTMLElement;

  /**
   * Show a value, and why it is without effect; null: it has an effect.
   */
  show(value: unknown, whyOff: string | null): void;

  showProblems(texts: readonly string[]): void;
}

type Words = Readonly<Record<string, readonly string[]>>;

/**
 * Make the control that suits a setting: a tick, a choice, or a number.
 */
export function settingField(
  setting: CompilerSetting,
  label: string,
  onChange: (value: unknown) => void
): ISettingField {
  if (setting === 'timeout_s') {
    return timeField(label, onChange);
  }
  const words = (COMPILER_WORDS as Words)[setting];
  if (words !== undefined) {
    const options = words.map(word => [word, word] as const);
    return choiceField(setting, label, selectOf(options, onChange), String);
  }
  if (setting === 'dynamic' || setting === 'per_block') {
    const select = selectOf(
      [
        ['', 'automatic'],
        ['true', 'yes'],
        ['false', 'no']
      ],
      word => {
        onChange(word === '' ? null : word === 'true');
      }
    );
    return choiceField(setting, label, select, value =>
      typeof value === 'boolean' ? String(value) : ''
    );
  }
  return tickField(setting, label, onChange);
}

function choiceField(
  setting: CompilerSetting,
  label: string,
  select: HTMLSelectElement,
  wordOf: (value: unknown) => string
): ISettingField {
  const field = new Field(label, select, compilerHelp(setting));
  return shownBy(field, value => {
    select.value = wordOf(value);
  });
}

function tickField(
  setting: CompilerSetting,
  label: string,
  onChange: (value: boolean) => void
): ISettingField {
  const tick = h('input', {
    type: 'checkbox',
    onchange: () => {
      onChange(tick.checked);
    }
  });
  return shownBy(new Field(label, tick, compilerHelp(setting)), value => {
    tick.checked = value === true;
  });
}

function timeField(
  label: string,
  onChange: (value: number | null) => void
): ISettingField {
  const host = h('div');
  const field = numberField(host, {
    label,
    value: null,
    min: 1,
    max: MAX_TIMEOUT_S,
    help: compilerHelp('timeout_s'),
    onChange
  });
  return {
    element: field.element,
    show(value, whyOff): void {
      field.update({
        value: typeof value === 'number' ? value : null,
        whyOff
      });
    },
    showProblems(problems): void {
      field.update({ problems });
    }
  };
}

function shownBy(
  field: Field,
  setValue: (value: unknown) => void
): ISettingField {
  return {
    element: field.element,
    show(value, whyOff): void {
      setValue(value);
      field.switchOff(whyOff);
    },
    showProblems(texts): void {
      field.showProblems(texts);
    }
  };
}
