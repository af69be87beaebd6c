import type { IRunComparison } from '@smtc-lab/protocol';
import { tableElement } from '../charts/table_view.js';
import { paletteColor } from '../charts/theme.js';
import type { Unit } from '../charts/options.js';
import { format } from '../charts/units.js';
import { whenSeen } from '../charts/when_seen.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { setUpShape } from '../picture/set_up_mark.js';
import { exactly, Geometry, HEIGHT } from '../plan/geometry.js';
import { keepFocus } from '../plan/keep_focus.js';
import { s } from '../plan/svg.js';
import { paretoOf, type Better, type IPoint } from './pareto.js';
import { linearOrLog } from './scale.js';
import { Choice, letters, quantity, runLetter, runWords } from './words.js';

const USUAL_WIDTH = 640;
const HALF_MARK = 7;

interface IRunPoint extends IPoint {
  readonly place: number;
  readonly words: string;
}

/**
 * Each run as a point over two of its numbers. Arrow keys go from one to the next.
 */
export class Scatter {
  readonly element: HTMLElement;

  constructor() {
    for (const better of [this._betterX, this._betterY]) {
      better.offer([
        ['', t('either')],
        ['less', t('less is better')],
        ['more', t('more is better')]
      ]);
    }
    this.element = h(
      'section',
      { 'aria-label': t('Two quantities') },
      h(
        'div',
        { class: 'smtc-row' },
        ...[this._x, this._betterX, this._y, this._betterY].map(
          one => one.element
        )
      ),
      this._host,
      this._note,
      h('details', {}, h('summary', {}, t('Table')), this._table)
    );
    this._leave = whenSeen(this._host, () => {
      const width = this._host.clientWidth;
      if (width > 0 && width !== this._width) {
        this._width = width;
        this._draw();
      }
    });
  }

  /**
   * Show a comparison; what was chosen stays.
   */
  show(compared: IRunComparison): void {
    this._compared = compared;
    const names = quantitiesOf(compared);
    const options = names.map(name => [name, quantity(name)[0]] as const);
    this._x.offer(
      options,
      names.find(one => one.startsWith('param.'))
    );
    const metric = `metric.${compared.metrics[0] ?? ''}`;
    this._y.offer(options, names.includes(metric) ? metric : names.at(-1));
    this.element.hidden = names.length === 0;
    this._draw();
  }

  dispose(): void {
    this._leave();
  }

  private readonly _draw = (): void => {
    const compared = this._compared;
    if (compared === null) {
      return;
    }
    const [x, y] = [this._x.value, this._y.value];
    const points = compared.runs.flatMap((run, place): IRunPoint[] => {
      const [across, up] = [run.numbers.get(x), run.numbers.get(y)];
      return across === undefined || up === undefined
        ? []
        : [{ x: across, y: up, place, words: runWords(run, place) }];
    });
    const best = new Set(
      paretoOf(
        points,
        this._betterX.value as Better,
        this._betterY.value as Better
      )
    );
    const [xs, ys] = [quantity(x), quantity(y)];
    const left = letters(
      compared,
      ({ numbers }) => !numbers.has(x) || !numbers.has(y)
    );
    this._note.textContent = [
      best.size > 0 &&
        t(
          'Ringed and joined: no other run is better in one without being worse in the other.'
        ),
      left && t('Not drawn, as one of both is not known of them: %1.', left)
    ]
      .filter(Boolean)
      .join(' ');
    const names = [t('run'), xs[0], ys[0]];
    this._table.replaceChildren(
      tableElement({
        caption: t('%1 over %2', ys[0], xs[0]),
        head: best.size > 0 ? [...names, t('Pareto-optimal')] : names,
        rows: points.map(one => [
          one.words,
          format(one.x, xs[1]),
          format(one.y, ys[1]),
          ...(best.size > 0 ? [best.has(one) ? t('yes') : t('no')] : [])
        ])
      })
    );
    keepFocus(this._host, () => {
      this._host.replaceChildren(this._picture(points, best, xs, ys));
    });
  };

  private _picture(
    points: readonly IRunPoint[],
    best: ReadonlySet<IRunPoint>,
    [xLabel, xUnit]: readonly [string, Unit],
    [yLabel, yUnit]: readonly [string, Unit]
  ): Element {
    const geometry = new Geometry(
      linearOrLog(points.map(one => one.x)),
      linearOrLog(points.map(one => one.y)),
      this._width
    );
    const at = (one: IRunPoint): readonly [number, number] => {
      const { x, y } = geometry.place(exactly(one.x), exactly(one.y));
      return [x.value, y.value];
    };
    const marks = points.map((one, number) => {
      const [left, top] = at(one);
      const shape = setUpShape(one.place);
      shape.setAttribute(
        'transform',
        `translate(${left - HALF_MARK} ${top - HALF_MARK})`
      );
      shape.style.fill = paletteColor(one.place);
      const words = `${one.words}: ${xLabel} ${format(one.x, xUnit)}, ${yLabel} ${format(one.y, yUnit)}`;
      const isBest = best.has(one);
      const ring = { class: 'smtc-compared-ring', cx: left, cy: top, r: 10 };
      return s(
        'g',
        {
          ...{ class: 'smtc-compared-point', role: 'img' },
          tabindex: number === 0 ? 0 : -1,
          'aria-label': isBest ? `${words}; ${t('Pareto-optimal')}` : words
        },
        s('title', {}, words),
        ...(isBest ? [s('circle', ring)] : []),
        shape,
        s('text', { x: left + 11, y: top + 4 }, runLetter(one.place))
      );
    });
    marks.forEach((one, number) => {
      one.addEventListener('keydown', ({ key }) => {
        const way: Readonly<Record<string, number>> = {
          ...{ ArrowRight: 1, ArrowDown: 1 },
          ...{ ArrowLeft: -1, ArrowUp: -1 }
        };
        marks[number + (way[key] ?? NaN)]?.focus();
      });
    });
    const front = [...best].sort((a, b) => a.x - b.x).map(at);
    return s(
      'svg',
      {
        ...{ viewBox: `0 0 ${this._width} ${HEIGHT}`, role: 'group' },
        ...{ width: this._width, height: HEIGHT },
        'aria-label': t('%1 over %2', yLabel, xLabel)
      },
      ...geometry.grid(
        { label: xLabel, unit: xUnit },
        { label: yLabel, unit: yUnit }
      ),
      s('polyline', { class: 'smtc-plan-front', points: front.join(' ') }),
      ...marks
    );
  }

  private readonly _x = new Choice(t('Horizontal axis'), this._draw);
  private readonly _y = new Choice(t('Vertical axis'), this._draw);
  private readonly _betterX = new Choice(t('Horizontally'), this._draw);
  private readonly _betterY = new Choice(t('Vertically'), this._draw);
  private readonly _host = h('div', { class: 'smtc-plan-chart' });
  private readonly _note = h('p', { class: 'smtc-note' });
  private readonly _table = h('div', { class: 'smtc-compared-table' });
  private readonly _leave: () => void;
  private _width = USUAL_WIDTH;
  private _compared: IRunComparison | null = null;
}

/**
 * Return the numbers that runs have: parameters, metrics, then all others.
 */
function quantitiesOf({ runs }: IRunComparison): readonly string[] {
  const names = [
    ...new Set(runs.flatMap(({ numbers }) => [...numbers.keys()]))
  ];
  const rank = (name: string): number =>
    ['param.', 'metric.'].findIndex(begin => name.startsWith(begin));
  const kind = (name: string): number => (rank(name) < 0 ? 2 : rank(name));
  return names
    .filter(name => name !== 'started')
    .sort((a, b) => kind(a) - kind(b));
}
