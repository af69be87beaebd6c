import {
  isForecastOf,
  parseForecast,
  type IForecastSetUp,
  type ISetUpLadder
} from '@smtc-lab/protocol';
import { paletteColor } from '../charts/theme.js';
import { bounded, paragraph } from '../bounded.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { laddersOf } from '../ladder/asker.js';
import { paysOf } from '../ladder/pays.js';
import { numberOf } from '../picture/numbers.js';
import type { IModel } from '../model.js';
import { cheaperOf, fasterOf, scaleOf, type IScale } from './foreseen.js';

/**
 * What is predicted of a set-up, and how.
 */
export interface IForesight {
  /**
   * Undefined: nobody asked yet.
   */
  readonly foreseen: IForecastSetUp | undefined;

  /**
   * What is predicted of the first set-up.
   */
  readonly first: IForecastSetUp | undefined;
  readonly most: IScale;

  /**
   * Whether it is of what was typed before.
   */
  readonly isStale: boolean;

  readonly measured: IMeasuredSettings;

  /**
   * Steps of its job; null: not known.
   */
  readonly jobSteps: number | null;
}

/**
 * What was measured of the compiler settings of a set-up.
 */
export interface IMeasuredSettings {
  /**
   * Undefined: it is being looked up.
   */
  readonly ladder: ISetUpLadder | undefined;

  /**
   * Why no answer came; empty: one did, or it is on its way.
   */
  readonly problem: string;
}

/**
 * Return what a model says now of its set-ups, by their places.
 */
export function foresightsOf(model: IModel): (place: number) => IForesight {
  const forecast = parseForecast(model.get('forecast'));
  const { setUps } = forecast;
  const most = scaleOf(setUps);
  const isStale = !isForecastOf(forecast, model.get('value'));
  const ladders = laddersOf(model);
  const value = model.get('value');
  const jobs: readonly unknown[] = Array.isArray(value) ? value : [];
  return place => ({
    measured: { ladder: ladders.setUps[place], problem: ladders.problem },
    jobSteps: stepsOf(jobs[place]),
    foreseen: setUps[place],
    first: setUps[0],
    most,
    isStale
  });
}

function stepsOf(job: unknown): number | null {
  const steps =
    typeof job === 'object' && job !== null && 'max_steps' in job
      ? job.max_steps
      : null;
  return typeof steps === 'number' ? steps : null;
}

/**
 * Show what is predicted of a set-up: step time and cost with their intervals, and what to know
 * before trusting them.
 */
export class ForeseenFigures {
  readonly element = h('div', { class: 'smtc-foreseen' });

  /**
   * @param isWrong - Whether the set-up has problems, which are said beside its fields.
   */
  show(
    { foreseen, first, most, isStale, measured, jobSteps }: IForesight,
    place: number,
    isWrong = false
  ): void {
    if (isWrong) {
      this._told = '';
      this.element.replaceChildren();
      return;
    }
    // what was measured is no older than the set-up, so it is not pale where nothing is predicted
    const isPale = isStale && foreseen !== undefined;
    this.element.classList.toggle('smtc-stale', isPale);
    const pays = measured.ladder?.pays;
    const told = JSON.stringify([foreseen, first, most, place, pays, jobSteps]);
    if (told === this._told) {
      return;
    }
    this._told = told;
    this.element.replaceChildren(
      ...(foreseen === undefined
        ? []
        : this._parts(foreseen, first, most, place)),
      ...paysOf(measured.ladder, jobSteps)
    );
    this.element.style.setProperty('--smtc-own-color', paletteColor(place));
  }

  private _parts(
    foreseen: IForecastSetUp,
    first: IForecastSetUp | undefined,
    most: IScale,
    place: number
  ): readonly HTMLElement[] {
    if (foreseen.stepTimeS === null) {
      return foreseen.problem === '' ? [] : [paragraph(foreseen.problem)];
    }
    const beside = (text: string): string =>
      place === 0 ? t('baseline') : text;
    const figures = h(
      'div',
      { class: 'smtc-figures' },
      numberOf(
        {
          label: t('step time'),
          unit: 's',
          predicted: foreseen.stepTimeS,
          measured: null,
          beside: beside(fasterOf(foreseen, first))
        },
        most.stepTimeS,
        place
      ),
      numberOf(
        {
          label: t('1,000 steps'),
          unit: 'USD',
          predicted: foreseen.usdPer1000Steps,
          measured: null,
          beside: beside(cheaperOf(foreseen, first))
        },
        most.usdPer1000Steps,
        place
      )
    );
    return foreseen.cautions.length === 0
      ? [figures]
      : [
          figures,
          h(
            'details',
            { class: 'smtc-cautions' },
            h('summary', {}, t('What to know of these numbers')),
            h(
              'ul',
              {},
              ...foreseen.cautions.map(text => h('li', {}, ...bounded(text)))
            )
          )
        ];
  }

  private _told = '';
}
