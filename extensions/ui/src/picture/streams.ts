import { t } from '../i18n.js';
import { s } from '../plan/svg.js';
import { clamped, percent, round } from './draw.js';
import {
  BOX_WIDTH,
  boxLayout,
  entryY,
  INSET,
  type IBox,
  type ILayout
} from './layout.js';
import type { IFilling } from './shares.js';

const LONGEST_S = 5;
const SHORTEST_S = 0.3;

interface IStream {
  readonly path: string;
  readonly class: string;

  /**
   * Of its pipe in CSS pixels; 0: there is none.
   */
  readonly pipe: number;
  readonly dots: number;
  readonly title: string;
  readonly isRinged?: boolean;
}

/**
 * Draw what flows: batches from data instances and from a trainer's own vCPUs to its devices, and
 * gradients from trainer to trainer.
 */
export function drawStreams(
  { columns }: ILayout,
  filling: IFilling
): readonly SVGGElement[] {
  const boxesOf = (role: IBox['role']): readonly IBox[] =>
    columns
      .filter(column => column.role === role)
      .flatMap(({ boxes }) => boxes);
  const [data, train] = [boxesOf('data'), boxesOf('train')];
  const pairs = data.flatMap(from => train.map(to => [from, to] as const));
  // all pairs of a crowd would be a black patch
  const thin = Math.sqrt(Math.max(1, pairs.length / 2));
  const isRinged = filling.bottleneck === 'network';
  const batches = pairs.map(([from, to], number) =>
    stream(
      {
        path: between(from, to),
        class: 'smtc-network',
        ...widths(from, to, filling, thin),
        title: batchesText(from, to, filling),
        isRinged: isRinged && number === 0
      },
      filling
    )
  );
  return [
    ...batches,
    ...train.flatMap(box => ownStream(box, data.length > 0, filling)),
    ...train
      .slice(1)
      .map((box, number) => gradients(train[number] as IBox, box, filling))
  ];
}

function between(from: IBox, to: IBox): string {
  const [x1, y1] = [from.x + BOX_WIDTH, from.y + from.height / 2];
  const [x2, y2] = [to.x, entryY(to)];
  const bend = 0.55 * (x2 - x1);
  return (
    `M${round(x1)} ${round(y1)}C${round(x1 + bend)} ${round(y1)} ` +
    `${round(x2 - bend)} ${round(y2)} ${round(x2)} ${round(y2)}`
  );
}

/**
 * Return how wide a pipe is, by its bandwidth, and its dots, by how much of it is used.
 */
function widths(
  from: IBox,
  to: IBox,
  { shares }: IFilling,
  thin: number
): Pick<IStream, 'pipe' | 'dots'> {
  const gbps = bandwidth(from, to);
  const pipe = Math.max(4, Math.min(20, 4.2 * Math.sqrt(gbps ?? 1))) / thin;
  const share = clamped(shares.network ?? 0);
  return { pipe, dots: Math.max(2.5, pipe * (0.35 + 0.65 * share)) };
}

function bandwidth(from: IBox, to: IBox): number | null {
  const both = [from.type?.networkGbps, to.type?.networkGbps].filter(
    gbps => gbps != null
  );
  return both.length === 2 ? Math.min(...both) : null;
}

function batchesText(from: IBox, to: IBox, { shares }: IFilling): string {
  const gbps = bandwidth(from, to);
  const route = t('Batches from %1 to %2', from.host, to.host);
  const rate = gbps === null ? '' : `, ${gbps} Gbit/s`;
  return shares.network === null
    ? `${route}${rate}`
    : `${route}${rate}: ${t('%1 busy', percent(shares.network))}`;
}

/**
 * Draw the batches that a trainer prepares itself; fewer, where others do.
 */
function ownStream(
  box: IBox,
  isFed: boolean,
  filling: IFilling
): readonly SVGGElement[] {
  const { devicesY, devicesHeight } = boxLayout(box.type);
  if (devicesHeight === 0) {
    return [];
  }
  const [x, y] = [box.x + INSET + 12, box.y + devicesY - 17];
  return [
    stream(
      {
        path: `M${round(x)} ${round(y)}v13`,
        class: 'smtc-cpu',
        pipe: 0,
        dots: isFed ? 2 : 4.5,
        title: t('Prepared on the own vCPUs of %1', box.host)
      },
      filling
    )
  ];
}

function gradients(above: IBox, below: IBox, filling: IFilling): SVGGElement {
  const x = Math.max(above.x, below.x) + BOX_WIDTH;
  const [y1, y2] = [entryY(above) + 4, entryY(below) - 4];
  return s(
    'g',
    { class: 'smtc-gradients' },
    s('title', {}, t('Gradients between %1 and %2', above.host, below.host)),
    s('path', {
      class: filling.stepsPerS === null ? '' : 'smtc-dashes',
      d: `M${round(above.x + BOX_WIDTH)} ${round(y1)}C${round(x + 24)} ${round(y1)} ${round(x + 24)} ${round(y2)} ${round(below.x + BOX_WIDTH)} ${round(y2)}`
    })
  );
}

function stream(
  { path, pipe, dots, title, isRinged, ...own }: IStream,
  { stepsPerS }: IFilling
): SVGGElement {
  const drawn = s('g', { class: own.class }, s('title', {}, title));
  if (isRinged === true) {
    drawn.append(
      s('path', {
        class: 'smtc-bottleneck',
        d: path,
        'stroke-width': round(pipe + 5)
      })
    );
  }
  if (pipe > 0) {
    drawn.append(
      s('path', { class: 'smtc-pipe', d: path, 'stroke-width': round(pipe) })
    );
  }
  if (stepsPerS !== null && stepsPerS > 0) {
    const seconds = Math.max(
      SHORTEST_S,
      Math.min(LONGEST_S, LONGEST_S / stepsPerS)
    );
    const flow = s('path', {
      class: 'smtc-flow',
      d: path,
      'stroke-width': round(dots)
    });
    flow.style.animationDuration = `${round(seconds)}s`;
    // it goes on where it was when the picture is drawn anew
    const passed = (performance.now() / 1000) % seconds;
    flow.style.animationDelay = `-${round(passed)}s`;
    drawn.append(flow);
  }
  return drawn;
}
