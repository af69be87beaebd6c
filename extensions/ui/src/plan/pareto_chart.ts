import type {
  IEstimate,
  IPlanInfo,
  IPointInfo,
  IMeasuredInfo
} from '@smtc-lab/protocol';
import { whenSeen } from '../charts/when_seen.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { costAxis, timeAxis, type IAxes } from './axes.js';
import { exactly, Geometry, HEIGHT } from './geometry.js';
import { keepFocus } from './keep_focus.js';
import { limitLines, limitsOf } from './limits.js';
import { pointMark, runMark } from './marks.js';
import { scaleOf } from './scale.js';
import { setUpPlace, type ISetUpPlace } from './set_up_place.js';
import { s } from './svg.js';

/**
 * What the chart tells of the user.
 */
export interface IParetoOptions {
  /**
   * Called with a cluster that is pointed at; null: none any more.
   */
  readonly onHover: (point: IPointInfo | null) => void;

  /**
   * Called with a cluster that is chosen.
   */
  readonly onChoose: (point: IPointInfo) => void;
}

interface IShown {
  readonly plan: IPlanInfo;
  readonly axes: IAxes;
  readonly chosen: IPointInfo | null;

  /**
   * Set-ups of a form among the clusters, which are plain rings then; undefined: it is the chart
   * of a plan by itself. Their numbers are of steps.
   */
  readonly setUps?: readonly ISetUpPlace[];
}

/**
 * A cluster that can be drawn.
 */
interface IDrawn {
  readonly point: IPointInfo;
  readonly time: IEstimate;
  readonly cost: IEstimate;
}

const USUAL_WIDTH = 640;

/**
 * Time against cost of the clusters of a plan. Arrow keys go from one to the next.
 */
export class ParetoChart {
  readonly element = h('div', { class: 'smtc-plan-chart' });

  constructor(private readonly _options: IParetoOptions) {
    this._leave = whenSeen(this.element, () => {
      const width = this.element.clientWidth;
      if (width > 0 && width !== this._width) {
        this._width = width;
        this._drawAgain();
      }
    });
  }

  /**
   * Show a plan; the chosen cluster stands out.
   */
  show(shown: IShown): void {
    this._shown = shown;
    this._drawAgain();
  }

  dispose(): void {
    this._leave();
  }

  private _drawAgain(): void {
    keepFocus(this.element, () => {
      this._draw();
    });
  }

  private _draw(): void {
    if (this._shown === null) {
      return;
    }
    const { plan, axes, chosen, setUps } = this._shown;
    const [time, cost] = [timeAxis(axes, plan), costAxis(axes)];
    const drawn = plan.points.flatMap((point): IDrawn[] => {
      const [x, y] = [time.of(point), cost.of(point)];
      return x === null || y === null ? [] : [{ point, time: x, cost: y }];
    });
    if (drawn.length === 0) {
      this.element.replaceChildren(
        h(
          'p',
          { class: 'smtc-note' },
          t(
            'No cluster has both numbers, so there is nothing to draw. The table tells why.'
          )
        )
      );
      return;
    }
    const isOfSteps = axes.time === 'step' && axes.cost === 'steps';
    const runs = (isOfSteps ? plan.measured : []).flatMap(run =>
      run.usdPer1000Steps === null
        ? []
        : [
            {
              run,
              cost: run.usdPer1000Steps,
              predicted: predictedCost(run, run.usdPer1000Steps)
            }
          ]
    );
    const fastestS = Math.min(...drawn.map(each => each.time.value));
    const own = (setUps ?? []).flatMap(each =>
      each.usdPer1000Steps === null
        ? []
        : [{ each, time: each.stepTimeS, cost: each.usdPer1000Steps }]
    );
    const limits = limitsOf(plan, axes, fastestS);
    const geometry = new Geometry(
      scaleOf([
        ...[...drawn, ...own].map(each => each.time),
        ...limits.flatMap(({ timeS }) =>
          timeS === null ? [] : exactly(timeS)
        ),
        ...runs.flatMap(each => [each.run.stepTimeS, each.run.predictedS])
      ]),
      scaleOf([
        ...[...drawn, ...runs, ...own].map(each => each.cost),
        ...limits.flatMap(({ usd }) => (usd === null ? [] : exactly(usd))),
        ...runs.map(each => each.predicted)
      ]),
      this._width
    );
    this._marks = this._marksOf(drawn, geometry, chosen, setUps !== undefined);
    this.element.replaceChildren(
      s(
        'svg',
        {
          viewBox: `0 0 ${this._width} ${HEIGHT}`,
          width: this._width,
          height: HEIGHT,
          role: 'group',
          'aria-label': t(
            '%1 against %2, %3 clusters. The table has the same numbers.',
            cost.label,
            time.label,
            drawn.length
          )
        },
        ...geometry.grid(time, cost),
        limitLines(limits, geometry),
        front(drawn, geometry),
        ...inFront(this._marks, drawn),
        ...runs.map(({ run, cost, predicted }) =>
          runMark(
            run,
            geometry.place(run.stepTimeS, cost),
            geometry.place(run.predictedS, predicted)
          )
        ),
        ...own.map(({ each, time: at, cost: usd }) =>
          setUpPlace(each, geometry.place(at, usd))
        )
      )
    );
  }

  private _marksOf(
    drawn: readonly IDrawn[],
    geometry: Geometry,
    chosen: IPointInfo | null,
    isPlain: boolean
  ): readonly SVGElement[] {
    // one stop for the Tab key: arrow keys go on from there
    const stop = Math.max(
      0,
      drawn.findIndex(each => each.point === chosen)
    );
    return drawn.map(({ point, time, cost }, place) => {
      const element = pointMark(
        point,
        geometry.place(time, cost),
        point === chosen,
        isPlain
      );
      element.setAttribute('tabindex', place === stop ? '0' : '-1');
      this._listen(element, point, place);
      return element;
    });
  }

  private _listen(element: SVGElement, point: IPointInfo, place: number): void {
    const hover = (): void => {
      this._options.onHover(point);
    };
    const leave = (): void => {
      this._options.onHover(null);
    };
    element.addEventListener('pointerenter', hover);
    element.addEventListener('pointerleave', leave);
    element.addEventListener('focus', hover);
    element.addEventListener('blur', leave);
    element.addEventListener('click', () => {
      this._choose(point, place);
    });
    element.addEventListener('keydown', event => {
      const steps: Readonly<Record<string, number>> = {
        ArrowRight: 1,
        ArrowDown: 1,
        ArrowLeft: -1,
        ArrowUp: -1
      };
      const step = steps[event.key];
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        this._choose(point, place);
      } else if (step !== undefined) {
        event.preventDefault();
        this._marks[place + step]?.focus();
      }
    });
  }

  private _choose(point: IPointInfo, place: number): void {
    this._options.onChoose(point);
    this._marks[place]?.focus(); // drawn anew
  }

  private _shown: IShown | null = null;
  private _marks: readonly SVGElement[] = [];
  private _width = USUAL_WIDTH;
  private readonly _leave: () => void;
}

/**
 * Return what the steps of a run were predicted to cost.
 */
function predictedCost(run: IMeasuredInfo, cost: IEstimate): IEstimate {
  const usdPerS = cost.value / run.stepTimeS.value;
  return {
    ...run.predictedS,
    value: usdPerS * run.predictedS.value,
    low: usdPerS * run.predictedS.low,
    high: usdPerS * run.predictedS.high
  };
}

/**
 * Return the marks with those that have a name on top of the others, and the fastest on top.
 */
function inFront(
  marks: readonly SVGElement[],
  drawn: readonly IDrawn[]
): readonly SVGElement[] {
  const rank = (place: number): number => drawn[place]?.point.names.length ?? 0;
  return marks
    .map((mark, place) => ({ mark, place }))
    .sort((a, b) => rank(a.place) - rank(b.place) || b.place - a.place)
    .map(({ mark }) => mark);
}

function front(drawn: readonly IDrawn[], geometry: Geometry): SVGElement {
  const places = drawn
    .filter(({ point }) => point.isPareto)
    .map(({ time, cost }) => geometry.place(time, cost))
    .sort((a, b) => a.x.value - b.x.value);
  return s('polyline', {
    class: 'smtc-plan-front',
    points: places.map(({ x, y }) => `${x.value},${y.value}`).join(' ')
  });
}
