import type { IComparisonInfo } from '@smtc-lab/protocol';
import { Links } from '../charts/link.js';
import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import type { Feed } from '../live/feed.js';
import { Charts, type IDrawing } from '../monitor/charts.js';
import type { IPart } from '../monitor/part.js';
import type { Subject } from '../monitor/subject.js';
import { fold } from './fold.js';
import { chartsOfInstances, chartsOfNetwork } from './instance_charts.js';
import { Money } from './money/money.js';
import { hasRounds, isSearch } from './rounds.js';
import { RoundsFeed } from './rounds_feed.js';
import { launchTable } from './tables.js';

/**
 * Describes the charts of a kind of study, but for those of the instances.
 *
 * @param isSingle - Whether each launch is a line of its own; else the rounds of a set-up are one.
 */
export type Describe = (
  info: IComparisonInfo,
  feed: Feed,
  isSingle: boolean
) => readonly IDrawing[];

/**
 * Return why a study that is over has no charts; empty: it has some, or may get some.
 */
function whyNoCharts(info: IComparisonInfo): string {
  const { ended, state, launched } = info;
  const isEmpty = launched.every(({ steps }) => steps === 0);
  const isNone = launched.length === 0 && state === 'Completed';
  if (!ended || !isEmpty || isNone || isSearch(info)) {
    return '';
  }
  return launched.some(launch => launch.state === 'Failed')
    ? t('No charts: each launch failed or ended before its first step.')
    : t('No charts: no launch took a step.');
}

/**
 * The charts of a study: those that matter first, the others folded by what they are about. They
 * share cursor and zoom.
 */
export class PageCharts {
  constructor(
    private readonly _feed: Feed,
    private readonly _describe: Describe
  ) {
    this._tables = new RoundsFeed(_feed);
  }

  /**
   * Step time, cost, and where the money goes.
   */
  first(): IPart<IComparisonInfo> {
    const charts = this._chartsOf(null);
    const money = new Money();
    let shown: IComparisonInfo | null = null;
    const update = (info: IComparisonInfo): void => {
      shown = info;
      const why = whyNoCharts(info);
      nothing.textContent = why;
      nothing.hidden = why === '';
      both.hidden = why !== '' || (info.ended && isSearch(info));
      row.hidden = why !== '' || !(hasRounds(info) && info.rounds > 1);
      this._tables.update(info);
      charts.update(info);
      money.update(info);
    };
    const press = (): void => {
      this._isSingle = !this._isSingle;
      toggle.setAttribute('aria-pressed', String(this._isSingle));
      const info = shown;
      if (info !== null) {
        update(info);
        this._folds.forEach(each => {
          each.update(info);
        });
      }
    };
    const toggle = button(t('Single rounds'), press, {
      'aria-pressed': 'false'
    });
    const row = h('div', { class: 'smtc-row' }, toggle);
    const nothing = h('p', { class: 'smtc-note' });
    const both = h(
      'div',
      { class: 'smtc-first-charts' },
      charts.element,
      money.element
    );
    return {
      element: h('div', {}, row, nothing, both),
      update,
      dispose: () => {
        charts.dispose();
        this._tables.dispose();
      }
    };
  }

  /**
   * All other charts, and the launches.
   */
  folds(): readonly IPart<IComparisonInfo>[] {
    this._folds = [
      this._fold('utilization', t('Utilization'), () =>
        t('vCPUs and devices of each instance group')
      ),
      this._fold('data', t('Data'), () =>
        t('how long each step waits for its batch')
      ),
      this._fold('network', t('Network'), () =>
        t('what the instances of a run send and receive')
      ),
      this._fold('ratios', t('Speed-up and saving'), ({ setUps }) =>
        t('ratios to %1, and how sure they are', setUps[0]?.label ?? '')
      ),
      this._launches()
    ];
    return this._folds;
  }

  private _fold(
    subject: Subject,
    title: string,
    words: (info: IComparisonInfo) => string
  ): IPart<IComparisonInfo> {
    return fold({
      title,
      words,
      isThere: info =>
        this._drawings(info, subject).some(({ isHidden }) => isHidden !== true),
      part: this._chartsOf(subject)
    });
  }

  private _launches(): IPart<IComparisonInfo> {
    return fold({
      title: t('Launches'),
      words: () => t('their states, steps and runs'),
      isThere: () => true,
      part: this._chartsOf('launches'),
      text: launchTable()
    });
  }

  private _chartsOf(subject: Subject | null): Charts<IComparisonInfo> {
    return new Charts(
      this._tables,
      info => ({ charts: this._drawings(info, subject) }),
      this._links
    );
  }

  /**
   * Return the charts about a subject; null: those that come first.
   */
  private _drawings(
    info: IComparisonInfo,
    subject: Subject | null
  ): readonly IDrawing[] {
    // launches beside rounds differ in what they try: no chart adds them up
    const isMixed = info.setUps.length > 0 && !hasRounds(info);
    if (isMixed || whyNoCharts(info) !== '') {
      return [];
    }
    if (subject === 'utilization') {
      return chartsOfInstances(info, this._feed);
    }
    if (subject === 'network') {
      return chartsOfNetwork(info, this._feed);
    }
    return this._describe(info, this._feed, this._isSingle).filter(
      drawing => (drawing.subject ?? null) === subject
    );
  }

  private readonly _tables: RoundsFeed;
  private readonly _links = new Links();
  private _folds: readonly IPart<IComparisonInfo>[] = [];
  private _isSingle = false;
}
