import { parseForecast } from '@smtc-lab/protocol';
import { tell } from '../bounded.js';
import { h } from '../dom.js';
import { mark, t } from '../i18n.js';
import { codeBox } from '../forms/code_box.js';
import { onChanges } from '../forms/component.js';
import type { IModel, IView } from '../model.js';
import { monitorOf } from '../monitor/kinds.js';
import { FOLLOW_EVENT } from '../monitor/follow_event.js';
import { LadderAsker } from '../ladder/asker.js';
import { ClusterChart } from './cluster_chart.js';
import { headline } from './foreseen.js';
import { RunBar } from './run_bar.js';
import { ScopedModel } from './scoped_model.js';
import { SetUps } from './set_ups.js';
import { viewSwitch } from './view_switch.js';

const MONITOR = monitorOf('comparison');

/**
 * Set-ups side by side, a Run button, and the live comparison below.
 */
export const workbench: IView = {
  initialize(model): Shown {
    return new Shown(model);
  },
  render({ model, el, state }): () => void {
    const shown = state as Shown;
    const setUps = new SetUps(model);
    const runBar = new RunBar(model, setUps);
    const code = codeBox(h('div', { hidden: true }), { code: '' });
    const clusters = new ClusterChart(model, setUps);
    const clusterPart = h('div', {}, clusters.element);
    const looks = looksOf(setUps, clusterPart, code.element);
    const foreseen = h('p', {
      class: 'smtc-foreseen-sentence',
      role: 'status'
    });
    const below = h('div', { class: 'smtc-workbench-result' });
    el.append(
      h(
        'section',
        { class: 'smtc-workbench', 'aria-label': t('Workbench') },
        runBar.element,
        h(
          'div',
          { class: 'smtc-row smtc-looks' },
          foreseen,
          setUps.steps,
          looks
        ),
        setUps.element,
        code.element,
        clusterPart,
        below
      )
    );
    const ladders = new LadderAsker(model);
    const foresee = (): void => {
      const forecast = parseForecast(model.get('forecast'));
      tell(foreseen, headline(forecast.setUps));
    };
    const forms = (): void => {
      runBar.hear(true);
      setUps.update();
      ladders.ask();
      runBar.update();
      clusters.update();
      foresee();
      code.update({ code: String(model.get('code')) });
    };
    code.update({ code: String(model.get('code')) });
    foresee();
    below.addEventListener(FOLLOW_EVENT, () => {
      runBar.hear(false);
    });
    let away = shown.showIn(below);
    const leave = [
      onChanges(
        model,
        [
          'value',
          'problems',
          'environments',
          'code',
          'rounds',
          'info',
          'forecast',
          'compiler_ladders',
          'result'
        ],
        forms
      ),
      onChanges(model, ['catalog_plans'], () => {
        clusters.update();
      }),
      onChanges(model, ['scripts'], () => {
        runBar.offer();
      }),
      onChanges(model, ['start_problem'], () => {
        if (model.get('start_problem') === '') {
          runBar.update();
        } else {
          runBar.settled();
        }
      }),
      onChanges(model, ['running'], () => {
        const wasAsked = runBar.settled();
        away();
        away = shown.showIn(below);
        if (wasAsked) {
          below.scrollIntoView({ block: 'start' });
        }
      })
    ];
    model.send({ type: 'environments' });
    ladders.ask();
    return () => {
      leave.forEach(stop => {
        stop();
      });
      away();
      ladders.dispose();
      setUps.dispose();
      clusters.dispose();
      code.dispose();
    };
  }
};

/**
 * Make the switch between the ways to look at the set-ups: three views of the same.
 */
function looksOf(
  setUps: SetUps,
  clusters: HTMLElement,
  code: HTMLElement
): HTMLElement {
  const looks = viewSwitch(
    t('Look at the set-ups'),
    [
      ['picture', mark('Picture')],
      ['form', mark('Form')],
      ['code', mark('Code')]
    ] as const,
    look => {
      code.hidden = look !== 'code';
      setUps.element.hidden = look === 'code';
      clusters.hidden = look === 'code';
      if (look !== 'code') {
        setUps.look(look);
      }
    }
  );
  looks.show('picture');
  code.hidden = true;
  return looks.element;
}

/**
 * The comparison that is shown below: its name, and what has come of it.
 */
class Shown {
  constructor(private readonly _model: IModel) {}

  /**
   * Show the comparison in an element.
   *
   * @returns What to call when it goes away.
   */
  showIn(host: HTMLElement): () => void {
    const name = String(this._model.get('running'));
    if (name === '') {
      host.replaceChildren(
        h(
          'p',
          { class: 'smtc-note' },
          t(
            'Nothing was run yet. Run makes a few launches of each set-up in turns, and compares step time and cost here while they go on.'
          )
        )
      );
      return () => undefined;
    }
    if (name !== this._name) {
      this._scope?.close();
      this._scope = new ScopedModel(this._model);
      this._state = MONITOR.initialize(this._scope);
      this._name = name;
    }
    const el = h('div');
    host.replaceChildren(el);
    return MONITOR.render({
      model: this._scope as ScopedModel,
      el,
      state: this._state
    });
  }

  private _name = '';
  private _scope: ScopedModel | null = null;
  private _state: unknown = null;
}
