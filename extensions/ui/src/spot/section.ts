import type { JsonObject } from '@smtc-lab/protocol';
import { tellProblems } from '../bounded.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Component, type IComponent } from '../forms/component.js';
import { Field, selectOf } from '../forms/field.js';
import { Entry, withGiven, type IEntry } from './entry.js';
import {
  jobFields,
  marketFields,
  MAX_RUNTIME_S,
  sagemakerFields
} from './fields.js';
import { ForecastBox } from './forecast_box.js';
import { isOfSpot, type ISpotProps } from './part.js';

const AUTOMATIC = 'automatic';

/**
 * Make the part of a form about interruptions, and what spot instances would bring.
 */
export function spotSection(
  host: HTMLElement,
  props: ISpotProps
): IComponent<ISpotProps> {
  return new SpotSection(host, props);
}

class SpotSection extends Component<ISpotProps> {
  constructor(host: HTMLElement, props: ISpotProps) {
    super(props);
    this._forecast = new ForecastBox(props, (isSpot, deadlineS) => {
      this._use(isSpot, deadlineS);
    });
    this.element = h(
      'div',
      { class: 'smtc-spot' },
      h(
        'div',
        { class: 'smtc-settings' },
        ...this._elements(jobFields(), this._ofJob),
        this._resume.element,
        this._plays.element
      ),
      this._marketPart,
      h(
        'details',
        {},
        h('summary', {}, t('Checkpoints on SageMaker')),
        h(
          'div',
          { class: 'smtc-settings' },
          ...this._elements(sagemakerFields(), this._ofJob)
        )
      ),
      this._problems,
      this._forecast.element
    );
    this._marketPart.append(...this._elements(marketFields(), this._ofMarket));
    this.appear(host);
  }

  readonly element: HTMLElement;

  override dispose(): void {
    this._forecast.dispose();
    super.dispose();
  }

  protected show(): void {
    const { job, problems } = this.props;
    const { rest } = job;
    const market = marketOf(rest);
    const isSpot = rest['use_spot_instances'] === true;
    const left = new Set(problems.filter(isOfSpot));
    const taken = (name: string, owner: string): readonly string[] => {
      const own = [...left].filter(text => isOfField(text, name, owner));
      own.forEach(text => left.delete(text));
      return own;
    };
    for (const entry of this._ofJob) {
      const { name } = entry.spec;
      const value = rest[name] ?? null;
      const isOff = name === 'max_wait' && !isSpot && value === null;
      entry.show(
        value,
        taken(name, ''),
        isOff ? t('Only on spot instances.') : null
      );
    }
    this._select.value = rest['resume'] === AUTOMATIC ? AUTOMATIC : '';
    this._resume.showProblems(taken('resume', ''));
    this._plays.show(
      market !== null,
      taken('market', ''),
      isSpot || market !== null ? null : t('Only on spot instances.')
    );
    this._marketPart.hidden = market === null;
    for (const entry of this._ofMarket) {
      entry.show(market?.[entry.spec.name], taken(entry.spec.name, 'Market.'));
    }
    tellProblems(this._problems, [...left]);
    this._forecast.show(this.props);
  }

  private _elements(
    specs: readonly IEntry[],
    entries: Entry[]
  ): readonly HTMLElement[] {
    return specs.map(spec => {
      const entry = new Entry(spec, value => {
        this._enter(spec.name, value);
      });
      entries.push(entry);
      return entry.element;
    });
  }

  private _enter(name: string, value: unknown): void {
    const { rest } = this.props.job;
    if (this._ofMarket.some(({ spec }) => spec.name === name)) {
      this._set({ market: withGiven(marketOf(rest) ?? {}, name, value) });
    } else if (name === 'use_spot_instances' && value === false) {
      // what spot instances alone have comes back with them
      this._last = { max_wait: rest['max_wait'], market: rest['market'] };
      this._set({ [name]: false, max_wait: null, market: null });
    } else {
      this._set({ [name]: value, ...(value === true ? this._last : {}) });
    }
  }

  private _use(isSpot: boolean, deadlineS: number | null): void {
    const { rest } = this.props.job;
    if (!isSpot) {
      this._enter('use_spot_instances', false);
      return;
    }
    const longest = rest['max_runtime_s'] ?? MAX_RUNTIME_S;
    const maxWait = deadlineS ?? rest['max_wait'] ?? null;
    const isTooLong = maxWait !== null && Number(longest) > Number(maxWait);
    this._set({
      ...(rest['use_spot_instances'] === true ? {} : this._last),
      use_spot_instances: true,
      max_wait: maxWait,
      // a job cannot have instances for longer than until its end
      ...(isTooLong ? { max_runtime_s: maxWait } : {})
    });
  }

  private _set(changed: JsonObject): void {
    const given = { ...this.props.job.rest, ...changed };
    // an empty field is the default of Python, which is not null for a time
    const { max_runtime_s: longest, ...others } = given;
    this.props.onChange({ rest: longest == null ? others : given });
  }

  private readonly _ofJob: Entry[] = [];
  private readonly _ofMarket: Entry[] = [];
  private readonly _select = selectOf(
    [
      ['', t('the script saves and loads')],
      [AUTOMATIC, t('automatic: a plain loop is kept')]
    ],
    word => {
      this._set({ resume: word === '' ? null : word });
    }
  );
  private readonly _resume = new Field(
    t('Resume after an interruption'),
    this._select
  );
  private readonly _plays = new Entry(
    {
      name: 'market',
      kind: 'tick',
      label: t('Play a spot market on this machine'),
      help: t('Processes are really asked to end, and killed.')
    },
    value => {
      this._set({ market: value === true ? {} : null });
    }
  );
  private readonly _marketPart = h('div', {
    class: 'smtc-settings smtc-market',
    role: 'group',
    'aria-label': t('Spot market')
  });
  private readonly _problems = h('div', { role: 'status' });
  private readonly _forecast: ForecastBox;
  private _last: JsonObject = {};
}

/**
 * Return the market of a job; null: there is none.
 */
export function marketOf(rest: JsonObject): JsonObject | null {
  const market = rest['market'];
  return typeof market === 'object' && market !== null
    ? (market as JsonObject)
    : null;
}

function isOfField(text: string, name: string, owner: string): boolean {
  const isMaxWait = name === 'max_wait' && text.startsWith('Invalid MaxWait');
  const place = owner === '' ? 'TrainingJob.' : 'TrainingJob.market.';
  return (
    isMaxWait ||
    [owner, place].some(
      begin =>
        text.startsWith(begin + name) &&
        !/[\w.]/.test(text.charAt(begin.length + name.length))
    )
  );
}
