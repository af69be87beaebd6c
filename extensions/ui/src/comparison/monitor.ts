import { readWire, type IComparisonInfo } from '@smtc-lab/protocol';
import { h } from '../dom.js';
import { codeBox } from '../forms/code_box.js';
import { Feed } from '../live/feed.js';
import type { IModel, IRenderContext, IView } from '../model.js';
import { findingLines } from '../run/findings.js';
import { section } from '../run/section.js';
import { ComparisonCharts } from './charts.js';
import { t } from '../i18n.js';
import { ComparisonHeader } from './header.js';
import { LaunchList } from './launch_list.js';
import type { IPart } from './part.js';
import { saveButton } from './saving.js';
import { SetUpTable } from './set_up_table.js';
import { Verdict } from './verdict.js';

/**
 * A comparison, growing or ended.
 */
export const comparisonMonitor: IView = {
  initialize(model): Feed {
    return new Feed(model);
  },
  render({ model, el, state }: IRenderContext): () => void {
    const info = infoOf(model);
    const header = new ComparisonHeader(info, () => {
      model.send({ type: 'stop' });
    });
    const parts: readonly IPart[] = [
      header,
      new Verdict(),
      new SetUpTable(),
      new ComparisonCharts(state as Feed, info),
      new LaunchList()
    ];
    const notes = h('div', {});
    const code = section(t('Code that does the same'), false);
    const lines = codeBox(code.body, { code: info.code });
    const result = h('div', { class: 'smtc-row' });
    const update = (): void => {
      const now = infoOf(model);
      parts.forEach(part => {
        part.update(now);
      });
      notes.replaceChildren(
        ...findingLines(now.findings),
        ...now.notes.map(note => h('p', { class: 'smtc-note' }, note))
      );
      showResult(result, model, now);
    };
    el.append(
      h(
        'section',
        {
          class: 'smtc-comparison',
          'aria-label': t('Comparison %1', info.name)
        },
        ...parts.map(part => part.element),
        notes,
        result,
        info.code === '' ? null : code.element
      )
    );
    update();
    const leave = listen(model, {
      'change:info': update,
      'change:result': update,
      'change:beat': () => {
        header.beat(readWire('BeatInfo', model.get('beat')));
      },
      'change:stop_problem': () => {
        header.stopFailed(String(model.get('stop_problem')));
      }
    });
    return () => {
      leave();
      parts.forEach(part => {
        part.dispose();
      });
      lines.dispose();
    };
  }
};

function infoOf(model: IModel): IComparisonInfo {
  return readWire('ComparisonInfo', model.get('info'));
}

function listen(
  model: IModel,
  listeners: Readonly<Record<string, () => void>>
): () => void {
  for (const [event, listener] of Object.entries(listeners)) {
    model.on(event, listener);
  }
  return () => {
    for (const [event, listener] of Object.entries(listeners)) {
      model.off(event, listener);
    }
  };
}

/**
 * Offer the numbers as a file, once there are some.
 */
function showResult(
  host: HTMLElement,
  model: IModel,
  info: IComparisonInfo
): void {
  if (host.childElementCount === 0 && model.get('result') !== '') {
    host.append(
      saveButton(t('Save as JSON'), `${info.name}.json`, () =>
        String(model.get('result'))
      )
    );
  }
}
