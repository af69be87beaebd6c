import {
  clusterProblems,
  MAX_GROUPS,
  roles,
  type Catalog,
  type ICluster,
  type IClusterProblem,
  type IInstanceGroup
} from '@smtc-lab/protocol';
import { totalText, withPythons } from './cluster_texts.js';
import { Component, isSameJson, type IComponent } from './component.js';
import { Field } from './field.js';
import { copyOf, newGroup, type IRemovedGroup } from './groups.js';
import { groupRow, type IGroupRowProps } from './group_row.js';
import { tell, tellProblems } from '../bounded.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';

/**
 * A form for a cluster.
 */
export interface IClusterDesignerProps {
  readonly cluster: ICluster;
  readonly catalog: Catalog;

  /**
   * What Python found wrong; those that are found here too are shown once.
   */
  readonly problems?: readonly string[];

  /**
   * Called with every change, legal or not.
   */
  readonly onChange: (cluster: ICluster) => void;
}

/**
 * Make a form for a cluster: its groups, its name, and what an hour of it costs.
 */
export function clusterDesigner(
  host: HTMLElement,
  props: IClusterDesignerProps
): IComponent<IClusterDesignerProps> {
  return new ClusterDesigner(host, props);
}

class ClusterDesigner extends Component<IClusterDesignerProps> {
  constructor(host: HTMLElement, props: IClusterDesignerProps) {
    super(props);
    this.element = h(
      'div',
      { class: 'smtc-designer' },
      this._name.element,
      this._list,
      this._undoBar,
      h('div', { class: 'smtc-row' }, this._add),
      this._problems,
      this._total
    );
    this.appear(host);
  }

  readonly element: HTMLElement;

  override update(changed: Partial<IClusterDesignerProps>): void {
    const { cluster } = changed;
    if (cluster !== undefined && !isSameJson(cluster, this.props.cluster)) {
      this._removed = null; // it belongs to a cluster that is gone
    }
    super.update(changed);
  }

  private _change(changed: Partial<ICluster>): void {
    const cluster = { ...this.props.cluster, ...changed };
    this.props = { ...this.props, cluster };
    this.show();
    this.props.onChange(cluster);
  }

  private _changeGroup(place: number, changed: Partial<IInstanceGroup>): void {
    const groups = this.props.cluster.groups.map((group, at) =>
      at === place ? { ...group, ...changed } : group
    );
    this._change({ groups });
  }

  private _insert(group: IInstanceGroup, place: number): void {
    this._removed = null;
    const { groups } = this.props.cluster;
    this._change({
      groups: [...groups.slice(0, place), group, ...groups.slice(place)]
    });
    this._focus(place, ['input']);
  }

  private _move(place: number, by: -1 | 1): void {
    const groups = [...this.props.cluster.groups];
    groups.splice(place + by, 0, ...groups.splice(place, 1));
    this._change({ groups });
    // the button that was pressed moves along, so that it can be pressed again
    const buttons = ['[data-does=up]', '[data-does=down]'];
    this._focus(place + by, by === -1 ? buttons : buttons.reverse());
  }

  private _remove(place: number): void {
    const { groups } = this.props.cluster;
    const group = groups[place];
    if (group !== undefined) {
      this._removed = { group, place };
      this._change({ groups: groups.filter((_, at) => at !== place) });
      this._undo.focus();
    }
  }

  private _putBack(): void {
    if (this._removed !== null) {
      this._insert(this._removed.group, this._removed.place);
    }
  }

  /**
   * Put the focus into a group, on the first of some controls that is not switched off.
   */
  private _focus(place: number, selectors: readonly string[]): void {
    const row = this._rows[place]?.element;
    const found = selectors.map(selector =>
      row?.querySelector<HTMLElement>(`${selector}:enabled`)
    );
    found.find(element => element != null)?.focus();
  }

  protected show(): void {
    const { catalog, cluster } = this.props;
    const problems = withPythons(
      clusterProblems(cluster, catalog),
      this.props.problems ?? [],
      cluster
    );
    this._showGroups(problems);
    if (this._nameInput.value !== (cluster.name ?? '')) {
      this._nameInput.value = cluster.name ?? '';
    }
    const label = cluster.groups.length > 1 ? 'heterogeneous' : 'homogeneous';
    this._nameInput.placeholder = label;
    this._name.showProblems(
      problems
        .filter(problem => problem.group === null && problem.field === 'name')
        .map(problem => problem.text)
    );
    this._showUndo();
    this._add.disabled = cluster.groups.length >= MAX_GROUPS;
    tellProblems(
      this._problems,
      problems
        .filter(problem => problem.field === null)
        .map(problem => problem.text)
    );
    tell(this._total, totalText(cluster, catalog));
  }

  private _showGroups(problems: readonly IClusterProblem[]): void {
    const { groups } = this.props.cluster;
    while (this._rows.length > groups.length) {
      this._rows.pop()?.dispose();
    }
    groups.forEach((_, place) => {
      const props = this._rowProps(place, problems);
      const row = this._rows[place];
      if (row === undefined) {
        this._rows.push(groupRow(this._list, props));
      } else {
        row.update(props);
      }
    });
  }

  private _rowProps(
    place: number,
    problems: readonly IClusterProblem[]
  ): IGroupRowProps {
    const { catalog, cluster } = this.props;
    const group = cluster.groups[place] as IInstanceGroup;
    const asTypesSay = cluster.groups.map((other, at) =>
      at === place ? { ...other, role: null } : other
    );
    return {
      group,
      catalog,
      place,
      numGroups: cluster.groups.length,
      canCopy: cluster.groups.length < MAX_GROUPS,
      automaticRole:
        roles({ ...cluster, groups: asTypesSay }, catalog)[place] ?? 'train',
      problems: problems.filter(problem => problem.group === place),
      onChange: changed => {
        this._changeGroup(place, changed);
      },
      onCopy: () => {
        this._insert(copyOf(group, cluster.groups), place + 1);
      },
      onMove: by => {
        this._move(place, by);
      },
      onRemove: () => {
        this._remove(place);
      }
    };
  }

  private _showUndo(): void {
    this._undoBar.hidden = this._removed === null;
    const name = this._removed?.group.name ?? '';
    this._undoText.textContent = t('Removed %1.', name);
    this._undo.setAttribute('aria-label', t('Undo: put %1 back', name));
  }

  private readonly _nameInput = h('input', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    oninput: () => {
      const { value } = this._nameInput;
      this._change({ name: value === '' ? null : value });
    }
  });
  private readonly _name = new Field(t('Name of the cluster'), this._nameInput);
  private readonly _list = h('div', { class: 'smtc-groups' });
  private readonly _undoText = h('span');
  private readonly _undo = button(t('Undo'), () => {
    this._putBack();
  });
  private readonly _undoBar = h(
    'div',
    { class: 'smtc-row smtc-undo', role: 'status' },
    this._undoText,
    this._undo
  );
  private readonly _add = button(t('Add a group'), () => {
    const { catalog, cluster } = this.props;
    this._insert(newGroup(cluster, catalog), cluster.groups.length);
  });
  private readonly _problems = h('div', { role: 'status' });
  private readonly _total = h('div', {
    class: 'smtc-total smtc-number',
    role: 'status'
  });
  private _removed: IRemovedGroup | null = null;
  private readonly _rows: IComponent<IGroupRowProps>[] = [];
}
