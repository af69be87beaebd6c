import {
  clusterProblems,
  MAX_GROUPS,
  type ICluster,
  type IClusterProblem,
  type IInstanceGroup
} from '@smtc-lab/protocol';
import { tell, tellProblems } from '../bounded.js';
import { h } from '../dom.js';
import { totalText, withPythons } from '../forms/cluster_texts.js';
import type { IClusterDesignerProps } from '../forms/cluster_designer.js';
import { Component, type IComponent } from '../forms/component.js';
import { copyOf, dataGroup } from '../forms/groups.js';
import { t } from '../i18n.js';
import { Column, type IColumnProps } from './column.js';
import { differenceOf } from './difference.js';
import { BOX_WIDTH, layoutOf, type IColumn, type ILayout } from './layout.js';
import { EMPTY, type IFilling } from './shares.js';
import { drawPicture } from './still.js';
import { bottleneckText } from './words.js';

const BELOW = 30;
const NO_OFFERS: ReadonlyMap<string, string> = new Map();
const WIDTH_BEFORE_SEEN = 360;

/**
 * Smallest scale: what has no room then scrolls.
 */
const LEAST_SCALE = 0.7;

/**
 * A picture of a cluster in which it is changed.
 */
export interface IClusterPictureProps extends IClusterDesignerProps {
  /**
   * What was predicted of it; left out: nothing.
   */
  readonly filling?: IFilling;

  /**
   * What the first data instances would bring, in a few words; left out: nobody knows.
   */
  readonly offer?: string;

  /**
   * Returns what each type would be in the place of a group, in a few words; left out: nobody
   * knows.
   */
  readonly offers?: (group: number) => ReadonlyMap<string, string>;

  /**
   * The cluster that it is compared with; left out: none, or this one.
   */
  readonly baseline?: ICluster | null;
}

/**
 * Make a picture of a cluster that is its editor: instances as boxes, groups as columns, batches
 * that flow from those that prepare them into those that train.
 */
export function clusterPicture(
  host: HTMLElement,
  props: IClusterPictureProps
): IComponent<IClusterPictureProps> {
  return new ClusterPicture(host, props);
}

class ClusterPicture extends Component<IClusterPictureProps> {
  constructor(host: HTMLElement, props: IClusterPictureProps) {
    super(props);
    this._stage.append(this._svg, this._empty);
    this.element = h(
      'div',
      {
        class: 'smtc-picture',
        role: 'group',
        'aria-label': t('Cluster as a picture')
      },
      h('div', { class: 'smtc-scroll' }, this._grid),
      this._sentence,
      this._problems,
      this._total
    );
    this._grid.append(this._stage);
    if (typeof ResizeObserver !== 'undefined') {
      this._observer = new ResizeObserver(([entry]) => {
        this._fit(entry?.contentRect.width ?? 0);
      });
      this._observer.observe(this.element);
    }
    this.appear(host);
  }

  readonly element: HTMLElement;

  override dispose(): void {
    this._observer?.disconnect();
    super.dispose();
  }

  protected show(): void {
    const { cluster, catalog, filling = EMPTY } = this.props;
    const layout = layoutOf(cluster, catalog, this._width);
    const problems = withPythons(
      clusterProblems(cluster, catalog),
      this.props.problems ?? [],
      cluster
    );
    const { columns, emptyX, gap, right } = layout;
    const numColumns = columns.length + (emptyX === null ? 0 : 1);
    this._grid.style.gridTemplateColumns = `repeat(${numColumns}, ${BOX_WIDTH}px)`;
    this._grid.style.columnGap = `${gap}px`;
    this._grid.style.paddingRight = `${right}px`;
    const scale = this._scaleOf(layout);
    this._grid.style.setProperty('zoom', String(scale));
    this._grid.classList.toggle('smtc-tight', scale < 1);
    this._showColumns(layout, problems);
    this._stage.style.height = `${layout.height + BELOW}px`;
    const drawn = drawPicture(cluster, layout, filling, true);
    this._svg.replaceWith(drawn);
    this._svg = drawn;
    this._showEmpty(layout);
    tell(this._sentence, bottleneckText(filling, layout));
    tellProblems(
      this._problems,
      problems
        .filter(({ field, group }) => field === null || group === null)
        .map(({ text }) => text)
    );
    this._total.textContent = totalText(cluster, catalog);
  }

  /**
   * Return how much smaller the picture is drawn to fit.
   */
  private _scaleOf({ width }: ILayout): number {
    const fitting = Math.floor((1000 * this._width) / width) / 1000;
    return Math.max(LEAST_SCALE, Math.min(1, fitting));
  }

  private _showColumns(
    { columns, emptyX }: ILayout,
    problems: readonly IClusterProblem[]
  ): void {
    while (this._columns.length > columns.length) {
      this._columns.pop()?.dispose();
    }
    columns.forEach((column, at) => {
      const props = this._columnProps(column, problems);
      const shown = this._columns[at];
      if (shown === undefined) {
        const made = new Column(this._grid, this._stage, props);
        this._grid.insertBefore(made.element, this._stage);
        this._columns.push(made);
      } else {
        shown.update(props);
      }
      const cell = this._columns[at]?.element;
      if (cell !== undefined) {
        cell.style.gridColumn = String(at + 1 + (emptyX === null ? 0 : 1));
      }
    });
  }

  private _columnProps(
    column: IColumn,
    problems: readonly IClusterProblem[]
  ): IColumnProps {
    const { cluster, catalog, baseline = null } = this.props;
    const { place, group } = column;
    return {
      column,
      catalog,
      problems: problems.filter(problem => problem.group === place),
      canCopy: cluster.groups.length < MAX_GROUPS,
      canRemove: cluster.groups.length > 1,
      difference: differenceOf(column, baseline, catalog),
      offers: () => this.props.offers?.(place) ?? NO_OFFERS,
      onChange: changed => {
        this._change(
          cluster.groups.map((other, at) =>
            at === place ? { ...other, ...changed } : other
          )
        );
      },
      onCopy: () => {
        this._insert(copyOf(group, cluster.groups), place + 1);
      },
      onRemove: () => {
        this._change(cluster.groups.filter((_, at) => at !== place));
        this._columns[0]?.focus();
      }
    };
  }

  private _showEmpty({ emptyX, height }: ILayout): void {
    const { cluster, offer = '' } = this.props;
    this._empty.hidden = emptyX === null || cluster.groups.length >= MAX_GROUPS;
    this._empty.style.width = `${BOX_WIDTH}px`;
    this._empty.style.height = `${Math.max(96, height - BELOW)}px`;
    this._offer.textContent = offer;
  }

  private _insert(group: IInstanceGroup, place: number): void {
    const { groups } = this.props.cluster;
    this._change([...groups.slice(0, place), group, ...groups.slice(place)]);
    this._columns.find(column => column.place === place)?.focus();
  }

  private _change(groups: readonly IInstanceGroup[]): void {
    const cluster = { ...this.props.cluster, groups };
    this.props = { ...this.props, cluster };
    this.show();
    this.props.onChange(cluster);
  }

  /**
   * Take note of how much room there is, which is no news while it is hidden.
   */
  private _fit(width: number): void {
    if (width > 0 && Math.abs(width - this._width) >= 1) {
      this._width = width;
      this.show();
    }
  }

  private readonly _grid = h('div', { class: 'smtc-picture-grid' });
  private readonly _stage = h('div', { class: 'smtc-stage' });
  private _svg: Element = h('span');
  private readonly _offer = h('span', { class: 'smtc-soft' });
  private readonly _empty = h(
    'button',
    {
      type: 'button',
      class: 'smtc-empty',
      onclick: () => {
        const { cluster, catalog } = this.props;
        this._insert(dataGroup(cluster, catalog), cluster.groups.length);
      }
    },
    h('b', {}, t('+ data instances')),
    this._offer
  );
  private readonly _sentence = h('p', {
    class: 'smtc-sentence',
    role: 'status'
  });
  private readonly _problems = h('div', { role: 'status' });
  private readonly _total = h('div', { class: 'smtc-note smtc-number' });
  private readonly _columns: Column[] = [];
  private _observer: ResizeObserver | null = null;
  private _width = WIDTH_BEFORE_SEEN;
}
