import type { IRankMapInfo, IRankRowInfo, IRunInfo } from '@smtc-lab/protocol';
import { HeatMap } from '../charts/heat_map.js';
import type { Evidence } from '../charts/options.js';
import { partColor } from '../charts/theme.js';
import { format } from '../charts/units.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { Table } from '../live/table.js';
import type { IPart } from '../monitor/part.js';

const MOST_BINS = 128;

/**
 * What each of several trainers did itself over the steps: a row for each, in which a slow one
 * is full while the others are not.
 */
export function rankMap(): IPart<IRunInfo> {
  return new RankMap();
}

class RankMap implements IPart<IRunInfo> {
  readonly element = h('div', { class: 'smtc-rank-map', hidden: true });

  update({ rankMap: told, evidence, ended }: IRunInfo): void {
    if (told !== null && told.rows.length > 1) {
      this.element.hidden = false;
      const key = [evidence, ...told.rows.map(nameOf)].join();
      if (key !== this._key) {
        this._key = key;
        this._steps = 0;
        this._open(told, evidence);
      }
      if (told.steps !== this._steps) {
        this._steps = told.steps;
        this._show(told);
      }
    }
    if (ended) {
      this._map?.end();
    }
  }

  dispose(): void {
    this._map?.dispose();
    this._map = null;
  }

  private _open({ rows }: IRankMapInfo, evidence: Evidence): void {
    this.dispose();
    const columns = ['step', ...rows.keys()].map(String);
    this._table = new Table('ranks', columns, MOST_BINS, 2);
    const label = t('share of the step in which it waits for no other');
    this._map = new HeatMap({
      title: t('Own work of each trainer over the steps'),
      x: { label: t('step'), unit: 'count' },
      label: evidence === 'measured' ? label : `${label} (${t(evidence)})`,
      evidence
    });
    for (const [place, row] of rows.entries()) {
      this._map.add({
        label: nameOf(row),
        table: this._table,
        x: 'step',
        y: String(place),
        color: partColor('dev', 0),
        evidence
      });
    }
    this.element.replaceChildren(this._words, this._map.element, this._note);
  }

  private _show(told: IRankMapInfo): void {
    const { rows, width } = told;
    const bins = Math.min(MOST_BINS, rows[0]?.ownFraction.length ?? 0);
    const column = (valueOf: (bin: number) => number): Float64Array =>
      Float64Array.from({ length: bins }, (_, bin) => valueOf(bin));
    this._table?.take({
      type: 'reset',
      table: 'ranks',
      columns: this._table.columns,
      rows: {
        first: 0,
        values: [
          column(bin => bin * width),
          ...rows.map(row => column(bin => row.ownFraction[bin] ?? NaN))
        ]
      },
      bins: null
    });
    this._map?.mark(
      rows.map(row => (isSlow(row, told) ? excessWords(row) : null))
    );
    this._words.textContent = verdict(told);
    this._note.textContent = noteOf(told);
  }

  private readonly _words = h('p', { class: 'smtc-rank-words' });
  private readonly _note = h('p', { class: 'smtc-note' });
  private _map: HeatMap | null = null;
  private _table: Table | null = null;
  private _key = '';
  private _steps = 0;
}

function nameOf({ rank, host }: IRankRowInfo): string {
  return t('rank %1, %2', String(rank), host);
}

function isSlow(
  { excessFraction }: IRankRowInfo,
  { slowFrom }: IRankMapInfo
): boolean {
  return excessFraction !== null && excessFraction >= slowFrom;
}

function excessWords({ excessFraction }: IRankRowInfo): string {
  return `+${format(excessFraction ?? NaN, 'fraction')}`;
}

/**
 * Say who is slow.
 */
function verdict(told: IRankMapInfo): string {
  const slow = told.rows.filter(row => isSlow(row, told));
  const [first] = slow;
  if (first === undefined) {
    return t(
      'No trainer works %1 longer than the median one.',
      format(told.slowFrom, 'fraction')
    );
  }
  return slow.length === 1
    ? t(
        'Rank %1 on %2 works %3 longer than the median trainer.',
        String(first.rank),
        first.host,
        format(first.excessFraction ?? NaN, 'fraction')
      )
    : t(
        '%1 of %2 trainers work longer than the median one by %3 or more.',
        slow.length,
        told.trainers,
        format(told.slowFrom, 'fraction')
      );
}

function noteOf({ rows, trainers, tellsWaits }: IRankMapInfo): string {
  const notes = [
    ...(tellsWaits
      ? []
      : [t('Waits for each other were not recorded: they count as work.')]),
    ...(rows.length < trainers
      ? [
          t(
            '%1 of %2 trainers are shown: those that work longest.',
            rows.length,
            trainers
          )
        ]
      : [])
  ];
  return notes.join(' ');
}
