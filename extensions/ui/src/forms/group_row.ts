import {
  LOCAL,
  MAX_COUNT,
  usdPerHour,
  type Catalog,
  type IClusterProblem,
  type IInstanceGroup,
  type Role
} from '@smtc-lab/protocol';
import { Component, type IComponent } from './component.js';
import { Field, selectOf, setOptions } from './field.js';
import {
  instanceTypePicker,
  type IInstanceTypePickerProps
} from './instance_type_picker.js';
import { numberField, type INumberFieldProps } from './number_field.js';
import { NO_PRICE_HERE, UNKNOWN, usdPerHourText } from './price.js';
import { h } from '../dom.js';
import { mark, t } from '../i18n.js';

/**
 * One group in the form of a cluster.
 */
export interface IGroupRowProps {
  readonly group: IInstanceGroup;
  readonly catalog: Catalog;

  /**
   * Place of the group in its cluster, from 0.
   */
  readonly place: number;

  /**
   * Groups of the cluster.
   */
  readonly numGroups: number;

  /**
   * Whether one more group is allowed.
   */
  readonly canCopy: boolean;

  /**
   * What the group would do if its role were left to the types.
   */
  readonly automaticRole: Role;

  readonly problems: readonly IClusterProblem[];
  readonly onChange: (changed: Partial<IInstanceGroup>) => void;
  readonly onCopy: () => void;
  readonly onMove: (by: -1 | 1) => void;
  readonly onRemove: () => void;
}

/**
 * Make the fields of one instance group.
 */
export function groupRow(
  host: HTMLElement,
  props: IGroupRowProps
): IComponent<IGroupRowProps> {
  return new GroupRow(host, props);
}

class GroupRow extends Component<IGroupRowProps> {
  constructor(host: HTMLElement, props: IGroupRowProps) {
    super(props);
    const main = h('div', { class: 'smtc-group-fields' }, this._name.element);
    this._type = instanceTypePicker(main, {
      label: t('Instance type'),
      value: props.group.instanceType,
      catalog: props.catalog,
      onChange: instanceType => {
        this.props.onChange({ instanceType });
      }
    });
    this._count = numberField(main, {
      label: t('Count'),
      value: props.group.count,
      min: 1,
      max: MAX_COUNT,
      isWhole: true,
      onChange: count => {
        this.props.onChange({ count });
      }
    });
    main.append(this._role.element, this._price);
    this.element = h(
      'fieldset',
      { class: 'smtc-group' },
      this._legend,
      main,
      // below all fields, most of which are too narrow for a sentence
      h('div', {}, ...main.querySelectorAll('.smtc-problems')),
      this._buttons.element
    );
    this.appear(host);
  }

  readonly element: HTMLElement;

  protected show(): void {
    const { automaticRole, catalog, group, place } = this.props;
    this._legend.textContent = t('Group %1', place + 1);
    if (this._nameInput.value !== group.name) {
      this._nameInput.value = group.name;
    }
    this._name.showProblems(this._problems('name'));
    this._type.update({
      value: group.instanceType,
      catalog,
      problems: this._problems('type')
    });
    this._count.update({
      value: group.count,
      problems: this._problems('count')
    });
    setOptions(this._roleSelect, roleOptions(automaticRole));
    this._roleSelect.value = group.role ?? '';
    this._role.showProblems(this._problems('role'));
    this._price.textContent = groupPrice(group, catalog);
    this._buttons.show();
  }

  private _problems(field: IClusterProblem['field']): readonly string[] {
    return this.props.problems
      .filter(problem => problem.field === field)
      .map(problem => problem.text);
  }

  private readonly _legend = h('legend');
  private readonly _nameInput = h('input', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    oninput: () => {
      this.props.onChange({ name: this._nameInput.value });
    }
  });
  private readonly _name = new Field(t('Name'), this._nameInput);
  private readonly _type: IComponent<IInstanceTypePickerProps>;
  private readonly _count: IComponent<INumberFieldProps>;
  private readonly _roleSelect = selectOf([], value => {
    const role = value === '' ? null : (value as Role);
    // trainers run the script anyway, and are not told to
    this.props.onChange(role === 'train' ? { role, runs: null } : { role });
  });
  private readonly _role = new Field(t('Role'), this._roleSelect);
  private readonly _price = h('output', {
    class: 'smtc-number smtc-group-price'
  });
  private readonly _buttons = rowButtons(() => this.props);
}

function rowButtons(props: () => IGroupRowProps): {
  readonly element: HTMLElement;
  show(): void;
} {
  const button = (text: string, onclick: () => void): HTMLButtonElement =>
    h(
      'button',
      { type: 'button', 'data-does': text.toLowerCase(), onclick },
      text
    );
  const copy = button(t('Copy'), () => {
    props().onCopy();
  });
  const up = button(t('Up'), () => {
    props().onMove(-1);
  });
  const down = button(t('Down'), () => {
    props().onMove(1);
  });
  const remove = button(t('Remove'), () => {
    props().onRemove();
  });
  return {
    element: h('div', { class: 'smtc-row' }, copy, up, down, remove),
    show(): void {
      const { canCopy, group, numGroups, place } = props();
      for (const each of [copy, up, down, remove]) {
        each.setAttribute('aria-label', `${each.textContent} ${group.name}`);
      }
      copy.disabled = !canCopy;
      up.disabled = place === 0;
      down.disabled = place === numGroups - 1;
      remove.disabled = numGroups === 1;
    }
  };
}

function roleOptions(automatic: Role): readonly (readonly [string, string])[] {
  return [
    ['', t('automatic: %1', t(DOES[automatic]))],
    ['train', t(DOES.train)],
    ['data', t(DOES.data)]
  ];
}

const DOES: Readonly<Record<Role, string>> = {
  train: mark('trains'),
  data: mark('prepares data')
};

function groupPrice(group: IInstanceGroup, catalog: Catalog): string {
  const total = usdPerHour({ groups: [group], name: null }, catalog);
  if (total !== null) {
    return usdPerHourText(total);
  }
  return group.instanceType === LOCAL
    ? t(NO_PRICE_HERE)
    : t('price %1', t(UNKNOWN));
}
