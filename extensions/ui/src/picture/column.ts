import {
  MAX_COUNT,
  type Catalog,
  type IClusterProblem,
  type IInstanceGroup
} from '@smtc-lab/protocol';
import { tellProblems } from '../bounded.js';
import { button, h } from '../dom.js';
import { Component, type IComponent } from '../forms/component.js';
import {
  instanceTypePicker,
  type IInstanceTypePickerProps
} from '../forms/instance_type_picker.js';
import { mark, t } from '../i18n.js';
import { s } from '../plan/svg.js';
import { countHandle } from './count_handle.js';
import type { IColumn } from './layout.js';

const LABELS = {
  less: mark('One instance less in %1'),
  more: mark('One more instance in %1'),
  copy: mark('Duplicate %1'),
  remove: mark('Remove %1')
} as const;

/**
 * The controls of one group in a picture.
 */
export interface IColumnProps {
  readonly column: IColumn;
  readonly catalog: Catalog;
  readonly problems: readonly IClusterProblem[];
  readonly canCopy: boolean;
  readonly canRemove: boolean;

  /**
   * What sets the group apart from that of the baseline; empty: nothing does.
   */
  readonly difference: string;

  /**
   * Returns what each type would be in its place, in a few words.
   */
  readonly offers: () => ReadonlyMap<string, string>;
  readonly onChange: (changed: Partial<IInstanceGroup>) => void;
  readonly onCopy: () => void;
  readonly onRemove: () => void;
}

/**
 * What stands above the instances of a group: its type, how many there are, and what else can
 * be done with it; and below them a handle that is dragged for another count.
 */
export class Column extends Component<IColumnProps> {
  constructor(host: HTMLElement, stage: HTMLElement, props: IColumnProps) {
    super(props);
    this.element = h(
      'div',
      { class: 'smtc-column', role: 'group' },
      h('div', { class: 'smtc-column-title' }, this._name, this._difference)
    );
    this._type = instanceTypePicker(this.element, {
      label: t('Instance type'),
      value: props.column.group.instanceType,
      catalog: props.catalog,
      offers: () => this.props.offers(),
      onChange: instanceType => {
        this.props.onChange({ instanceType });
      }
    });
    this.element.append(
      h(
        'div',
        { class: 'smtc-stepper' },
        this._less,
        this._count,
        this._more,
        this._copy,
        this._remove
      ),
      this._problems
    );
    stage.append(this._handle.element);
    this.appear(host);
  }

  readonly element: HTMLElement;

  override dispose(): void {
    this._handle.element.remove();
    this._type.dispose();
    super.dispose();
  }

  /**
   * Place of its group in the cluster, from 0.
   */
  get place(): number {
    return this.props.column.place;
  }

  /**
   * Put the focus on what another count is chosen with.
   */
  focus(): void {
    this._more.focus();
  }

  protected show(): void {
    const { column, catalog, problems, difference } = this.props;
    const { group, role } = column;
    const does = role === 'data' ? t('prepares data') : t('trains');
    this.element.setAttribute('aria-label', `${group.name}: ${does}`);
    this._name.textContent = group.name;
    this._name.title = `${group.name}: ${does}`;
    this._difference.textContent = difference;
    this._difference.hidden = difference === '';
    this._type.update({
      value: group.instanceType,
      catalog,
      problems: textsOf(problems, ['type'])
    });
    const count = group.count ?? 0;
    this._count.textContent = `× ${group.count ?? '?'}`;
    this._less.disabled = count <= 1;
    this._more.disabled = count >= MAX_COUNT;
    this._copy.disabled = !this.props.canCopy;
    this._remove.disabled = !this.props.canRemove;
    for (const [each, label] of this._labels) {
      each.setAttribute('aria-label', t(label, group.name));
      each.title = t(label, group.name);
    }
    tellProblems(this._problems, textsOf(problems, ['name', 'count', 'role']));
    this._handle.show(group.name, count, column);
  }

  private _step(by: number): void {
    const count = (this.props.column.group.count ?? 0) + by;
    this._setCount(count);
  }

  private _setCount(count: number): void {
    const legal = Math.max(1, Math.min(MAX_COUNT, count));
    if (legal !== this.props.column.group.count) {
      this.props.onChange({ count: legal });
    }
  }

  private readonly _name = h('span', { class: 'smtc-column-name' });
  private readonly _difference = h('span', { class: 'smtc-difference' });
  private readonly _less = button('−', () => {
    this._step(-1);
  });
  private readonly _count = h('span', { class: 'smtc-number' });
  private readonly _more = button('+', () => {
    this._step(1);
  });
  private readonly _copy = iconButton('M5 5h8v8h-8zM3 10.5v-7.5h7.5', () => {
    this.props.onCopy();
  });
  private readonly _remove = iconButton('M4 4l8 8M12 4l-8 8', () => {
    this.props.onRemove();
  });
  private readonly _labels = [
    [this._less, LABELS.less],
    [this._more, LABELS.more],
    [this._copy, LABELS.copy],
    [this._remove, LABELS.remove]
  ] as const;
  private readonly _problems = h('div', { role: 'status' });
  private readonly _handle = countHandle(count => {
    this._setCount(count);
  });
  private readonly _type: IComponent<IInstanceTypePickerProps>;
}

/**
 * Make a button with a drawing on it, whose font may lack a sign for it.
 */
function iconButton(path: string, onclick: () => void): HTMLButtonElement {
  const made = h('button', { type: 'button', class: 'smtc-icon', onclick });
  made.append(
    s(
      'svg',
      { width: 16, height: 16, viewBox: '0 0 16 16', 'aria-hidden': 'true' },
      s('path', { d: path })
    )
  );
  return made;
}

function textsOf(
  problems: readonly IClusterProblem[],
  fields: readonly IClusterProblem['field'][]
): readonly string[] {
  return problems
    .filter(({ field }) => fields.includes(field))
    .map(({ text }) => text);
}
