import {
  jobToJson,
  readWire,
  type ISpotAnswer,
  type JsonObject
} from '@smtc-lab/protocol';
import { tell } from '../bounded.js';
import { button, h, newId } from '../dom.js';
import { t } from '../i18n.js';
import { format } from '../charts/units.js';
import { isSameJson } from '../forms/component.js';
import { Entry, withGiven, type IEntry } from './entry.js';
import { questionFields, timeFields } from './fields.js';
import { policyTable, unfinishedText } from './policy_table.js';
import type { ISpotProps } from './part.js';

/**
 * Asks what the job would cost on spot instances and when it would end, and shows the answer.
 */
export class ForecastBox {
  /**
   * @param _onUse - Called with what the job is to say.
   */
  constructor(
    private _props: ISpotProps,
    private readonly _onUse: (spot: boolean, deadlineS: number | null) => void
  ) {
    const times = h(
      'details',
      {},
      h('summary', {}, t('Times of the job')),
      h('div', { class: 'smtc-settings' }, ...this._elements(timeFields()))
    );
    this._fields.append(...this._elements(questionFields()));
    this.element = h(
      'section',
      { class: 'smtc-spot-forecast', 'aria-labelledby': this._title.id },
      this._title,
      this._fields,
      times,
      h('div', { class: 'smtc-row' }, this._ask, this._stop, this._status),
      this._problem,
      this._result
    );
    _props.model.on('change:spot_answer', this._hear);
  }

  readonly element: HTMLElement;

  show(props: ISpotProps): void {
    this._props = props;
    this._show();
  }

  dispose(): void {
    this._props.model.off('change:spot_answer', this._hear);
  }

  private _show(): void {
    this._showPrices();
    const { rest } = this._props.job;
    const hints: JsonObject = {
      variation: 1,
      mean_wait_s: 0,
      deadline_s: rest['max_wait'] ?? t('none'),
      ...(rest['market'] as JsonObject | null)
    };
    for (const entry of this._entries) {
      const { name } = entry.spec;
      const wrong = this._wrong.get(name);
      entry.hint(hints[name]);
      entry.show(this._terms[name], wrong === undefined ? [] : [wrong]);
    }
    const isAsking = this._asked !== '';
    this._ask.hidden = isAsking;
    this._stop.hidden = !isAsking;
    const isStale = this._of !== '' && this._of !== keyOf(this._question());
    this._result.classList.toggle('smtc-stale', isStale);
    const words = isStale
      ? t('Something was changed since. Forecast again.')
      : this._words;
    tell(this._status, isAsking ? t('Forecasting …') : words);
  }

  /**
   * Have two prices for each instance type of the cluster.
   */
  private _showPrices(): void {
    const { catalog, job } = this._props;
    const types = [
      ...new Set(job.cluster.groups.map(({ instanceType }) => instanceType))
    ];
    if (isSameJson(types, this._types)) {
      return;
    }
    this._types = types;
    this._entries = this._entries.filter(({ element, spec }) => {
      const isPrice = spec.name.includes(':');
      if (isPrice) {
        element.remove();
      }
      return !isPrice;
    });
    const prices = types.flatMap(type => {
      const usd = catalog.get(type)?.price?.usdPerHour;
      const placeholder = usd === undefined ? '' : format(usd, 'USD');
      return [
        {
          name: `${SPOT}:${type}`,
          label: t('Spot price of %1, USD an hour', type)
        },
        {
          name: `${ON_DEMAND}:${type}`,
          label: t('On-demand price of %1, USD an hour', type),
          placeholder
        }
      ].map(spec => ({ ...spec, kind: 'number' as const }));
    });
    this._fields.append(...this._elements(prices));
  }

  private _elements(specs: readonly IEntry[]): readonly HTMLElement[] {
    return specs.map(spec => {
      const entry = new Entry(spec, value => {
        this._terms = withGiven(this._terms, spec.name, value);
        this._wrong.delete(spec.name);
        this._show();
      });
      this._entries.push(entry);
      return entry.element;
    });
  }

  private _question(): JsonObject {
    const { job } = this._props;
    const deadline = job.rest['max_wait'];
    const given = Object.entries(this._terms);
    const prices = (of: string): JsonObject =>
      Object.fromEntries(
        this._types
          .map(type => [type, this._terms[`${of}:${type}`]] as const)
          .filter(([, usd]) => usd !== undefined)
      );
    return {
      job: jobToJson(job),
      deadline_s: typeof deadline === 'number' ? deadline : null,
      ...Object.fromEntries(given.filter(([name]) => !name.includes(':'))),
      [SPOT]: prices(SPOT),
      [ON_DEMAND]: prices(ON_DEMAND)
    };
  }

  private readonly _onAsk = (): void => {
    this._wrong = this._missing();
    this._tellProblem('');
    if (this._wrong.size === 0) {
      this._asked = newId();
      const question = this._question();
      this._pending = keyOf(question);
      this._show();
      this._stop.focus();
      this._props.model.send({
        type: 'spot-forecast',
        question: { ...question, asked: this._asked }
      });
    } else {
      this._show();
      this._focusWrong();
    }
  };

  /**
   * Return what must be entered before anything can be forecast, by the name of its field.
   */
  private _missing(): Map<string, string> {
    const market = (this._props.job.rest['market'] ?? {}) as JsonObject;
    const isKnown = market['mean_time_between_s'] ?? market['trace'];
    const wrong = new Map<string, string>();
    if (isKnown == null && this._terms[MEAN] === undefined) {
      wrong.set(MEAN, t('Enter for how long spot instances last in the mean.'));
    }
    for (const type of this._types) {
      if (this._terms[`${SPOT}:${type}`] === undefined) {
        wrong.set(
          `${SPOT}:${type}`,
          t('Enter the spot price: it is not known.')
        );
      }
      const usd = this._props.catalog.get(type)?.price;
      if (usd == null && this._terms[`${ON_DEMAND}:${type}`] === undefined) {
        wrong.set(
          `${ON_DEMAND}:${type}`,
          t('Enter the on-demand price: it is not known.')
        );
      }
    }
    return wrong;
  }

  private _focusWrong(): void {
    this._entries.find(({ spec }) => this._wrong.has(spec.name))?.focus();
  }

  private readonly _onStop = (): void => {
    this._asked = '';
    this._words = t('Stopped. Nothing new is forecast.');
    this._show();
    this._ask.focus();
  };

  private readonly _hear = (): void => {
    const told = this._props.model.get('spot_answer');
    const answer = readWire('SpotAnswer', told);
    if (this._asked === '' || answer.asked !== this._asked) {
      return;
    }
    const hadFocus = this._stop.ownerDocument.activeElement === this._stop;
    this._asked = '';
    this._of = answer.problem === '' ? this._pending : '';
    this._words = answer.problem === '' ? t('Forecast.') : '';
    this._showAnswer(answer);
    this._show();
    if (hadFocus) {
      this._ask.focus();
    }
    this._focusWrong();
  };

  private _showAnswer(answer: ISpotAnswer): void {
    const { problem } = answer;
    const at = this._entries.find(
      ({ spec: { name } }) =>
        problem.startsWith(name) && !/\w/.test(problem.charAt(name.length))
    );
    if (at !== undefined) {
      this._wrong.set(at.spec.name, problem);
    }
    this._tellProblem(at === undefined ? problem : '');
    this._answer = answer;
    this._result.replaceChildren(
      ...(problem === '' ? policyTable(answer, this._use) : [])
    );
  }

  private _tellProblem(text: string): void {
    tell(this._problem, text);
    this._problem.hidden = text === '';
  }

  private readonly _use = (isSpot: boolean): void => {
    const deadline = this._question()['deadline_s'];
    this._onUse(isSpot, typeof deadline === 'number' ? deadline : null);
    const max = this._props.job.rest['max_wait'];
    this._of = keyOf(this._question()); // it is of this very job still
    this._words =
      typeof max === 'number'
        ? t('The job has it now, and is stopped after %1.', format(max, 's'))
        : t('The job has it now.');
    this._words += unfinishedText(this._answer, isSpot);
    this._show();
  };

  private readonly _title = h(
    'h4',
    { id: newId() },
    t('What spot instances would bring')
  );
  private readonly _fields = h('div', { class: 'smtc-settings' });
  private readonly _ask = button(t('Forecast on spot'), this._onAsk);
  private readonly _stop = button(t('Stop'), this._onStop);
  private readonly _status = h('span', { class: 'smtc-note', role: 'status' });
  private readonly _problem = h('p', {
    class: 'smtc-problem',
    role: 'alert',
    hidden: true
  });
  private readonly _result = h('div', { class: 'smtc-spot-result' });
  private _entries: Entry[] = [];
  private _types: readonly string[] = [];
  private _terms: Record<string, unknown> = {};
  private _wrong = new Map<string, string>();
  private _words = t('Nothing is launched: thousands of futures are played.');
  private _asked = '';
  private _pending = '';
  private _of = '';
  private _answer: ISpotAnswer | undefined;
}

const MEAN = 'mean_time_between_s';
const SPOT = 'spot_usd_per_hour';
const ON_DEMAND = 'on_demand_usd_per_hour';

/**
 * Fields of a job that an answer does not depend on, or that are asked beside it.
 */
const BESIDE = ['use_spot_instances', 'max_wait', 'max_runtime_s', 'resume'];

/**
 * Return what an answer depends on, as a text.
 */
function keyOf({ job, ...terms }: JsonObject): string {
  const kept = Object.entries(job as object).filter(
    ([name]) => !BESIDE.includes(name)
  );
  return JSON.stringify([kept, terms]);
}
