import type { Catalog, ICluster } from '@smtc-lab/protocol';
import { t } from '../i18n.js';
import { s } from '../plan/svg.js';
import { drawBox } from './draw.js';
import { BOX_WIDTH, layoutOf, type ILayout } from './layout.js';
import type { IFilling } from './shares.js';
import { drawStreams } from './streams.js';
import { describedPicture } from './words.js';

/**
 * Draw the instances of a cluster and what flows between them.
 *
 * @param isEdited - Whether there are controls over it, so that it is no image of its own.
 */
export function drawPicture(
  cluster: ICluster,
  layout: ILayout,
  filling: IFilling,
  isEdited: boolean
): SVGSVGElement {
  const { columns, width, height, emptyX } = layout;
  const marked = columns
    .filter(({ role }) => role === markedRole(filling))
    .at(0)?.boxes[0];
  return s(
    'svg',
    {
      class: 'smtc-picture-drawing',
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': describedPicture(cluster, layout, filling)
    },
    ...drawStreams(layout, filling),
    ...columns.flatMap(column => [
      ...column.boxes.map(box => drawBox(box, filling, box === marked)),
      ...(column.numMore > 0 ? [more(column)] : [])
    ]),
    ...(emptyX === null || isEdited
      ? []
      : [
          s(
            'text',
            {
              class: 'smtc-middle smtc-soft',
              x: emptyX + BOX_WIDTH / 2,
              y: height / 2
            },
            t('no data instances')
          )
        ])
  );
}

/**
 * Draw a cluster with no controls over it.
 */
export function still(
  cluster: ICluster,
  catalog: Catalog,
  width: number,
  filling: IFilling
): SVGSVGElement {
  return drawPicture(
    cluster,
    layoutOf(cluster, catalog, width),
    filling,
    false
  );
}

function markedRole({ bottleneck }: IFilling): 'data' | 'train' | null {
  if (bottleneck === null || bottleneck === 'network') {
    return null;
  }
  return bottleneck === 'dataCpu' ? 'data' : 'train';
}

function more({ x, end, numMore }: ILayout['columns'][number]): SVGGElement {
  const y = end - 32;
  return s(
    'g',
    {},
    s('rect', {
      class: 'smtc-box smtc-more',
      x,
      y,
      width: BOX_WIDTH,
      height: 24,
      rx: 4
    }),
    s(
      'text',
      { class: 'smtc-middle', x: x + BOX_WIDTH / 2, y: y + 16 },
      t('and %1 more', numMore)
    )
  );
}
