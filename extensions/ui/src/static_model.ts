import {
  objectOf,
  parseCurve,
  plainJson,
  ProtocolError,
  type IFrame,
  type JsonObject
} from '@smtc-lab/protocol';
import { BaseModel } from './base_model.js';
import type { IModel } from './model.js';
import { sortedPage } from './run_table/page.js';
import { sectionsOf, tablesOfFirstVersion } from './static_first_version.js';

const PLAN_VERSION = 1;
const RUN_VERSION = 1;
const STUDY_VERSION = 2;
const TABLE_VERSION = 1;
const SAVED_LIVE = 'This was saved while it went on.';

/**
 * A saved result: the view that shows it, and the model that this view reads.
 */
export interface IStaticResult {
  readonly view: string;
  readonly model: IModel;

  /**
   * What was saved.
   */
  readonly name: string;
}

/**
 * Read what a notebook or a file keeps of a run, of a study or of a plan.
 *
 * Mirrors what the snapshots and the plan of `smtc_lab.views` write. A notebook may be anybody's,
 * so its texts are made plain.
 *
 * @throws {@link ProtocolError} when it is none of them, damaged, or of a later version.
 */
export function staticResult(json: unknown): IStaticResult {
  const saved = objectOf(plainJson(json), 'A saved result');
  if ('schema_version' in saved) {
    throw new ProtocolError(
      'These are the numbers of a comparison alone, without what its view shows. Open the ' +
        'file comparison.smtc.json that was saved beside them.'
    );
  }
  if ('page' in saved) {
    return savedTable(saved);
  }
  if (saved['kind'] === 'run-comparison') {
    return {
      view: 'run-comparison',
      name: 'run-comparison', // readWire looks at its version
      model: new StaticModel({ comparison: saved }, [])
    };
  }
  return 'points' in saved ? savedPlan(saved) : savedOf(kindOf(saved), saved);
}

function savedTable(saved: JsonObject): IStaticResult {
  refuseVersionAbove(TABLE_VERSION, saved);
  const page = objectOf(saved['page'], 'A saved table');
  return { view: 'run-table', name: '', model: new StaticTable(page) };
}

function savedPlan(saved: JsonObject): IStaticResult {
  refuseVersionAbove(PLAN_VERSION, saved);
  return {
    view: 'planner',
    name: String(saved['entry_point']),
    model: new StaticModel({ plan: saved, chosen: -1, explained: {} }, [])
  };
}

function kindOf({ kind, comparison }: JsonObject): string {
  if (typeof kind === 'string') {
    return kind;
  }
  return comparison === undefined ? 'run' : 'comparison';
}

function savedOf(kind: string, saved: JsonObject): IStaticResult {
  refuseVersionAbove(kind === 'run' ? RUN_VERSION : STUDY_VERSION, saved);
  const info = endedInfo(saved);
  const { comparison = null } = saved;
  return {
    view: `${kind}-monitor`,
    name: String(info['name'] ?? info['job_name']),
    model: new StaticModel(
      {
        info,
        beat: { number: 0, elapsed_s: info['elapsed_s'] },
        stop_problem: '',
        result: comparison === null ? '' : JSON.stringify(comparison, null, 2)
      },
      'launches' in saved ? tablesOfFirstVersion(saved) : tablesOf(saved)
    )
  };
}

/**
 * Return the description as one of something that is over: nothing more comes from a file.
 */
function endedInfo(saved: JsonObject): JsonObject {
  const told = objectOf(saved['info'], 'The description of a saved result');
  const info = { ...told, ...sectionsOf(told) };
  return info['ended'] === false
    ? { ...info, ended: true, reason: SAVED_LIVE }
    : info;
}

function refuseVersionAbove(newest: number, saved: JsonObject): void {
  const version = saved['version'];
  if (typeof version !== 'number' || version > newest) {
    throw new ProtocolError(
      `This result has version ${JSON.stringify(version)}, but this front end reads up to ` +
        `${newest}. Update smtc_lab in the server's environment.`
    );
  }
}

function tablesOf(saved: JsonObject): IFrame[] {
  const tables = objectOf(saved['tables'], 'The tables of a saved result');
  return Object.entries(tables).map(([name, curve]) => parseCurve(name, curve));
}

/**
 * A model of something that is over: its values never change, and all that it answers is the
 * request for its tables. There is no kernel behind it.
 */
export class StaticModel extends BaseModel implements IModel {
  /**
   * @param values - The named values.
   * @param _tables - A frame for each table, with all of it.
   */
  constructor(
    values: JsonObject,
    private readonly _tables: readonly IFrame[]
  ) {
    super(values);
  }

  override set(): void {
    // nobody would learn of it
  }

  save_changes(): void {
    // nobody would learn of it
  }

  send(message: unknown): void {
    if (objectOf(message, 'A message')['type'] === 'resync') {
      for (const frame of this._tables) {
        this._tell(frame);
      }
    }
  }

  private _tell(frame: IFrame): void {
    const { type, table, columns, rows, bins } = frame;
    const content = {
      type,
      table,
      columns,
      first: rows.first,
      bins: bins && { first: bins.first, width: bins.width }
    };
    const buffers = [joined(rows.values)];
    if (bins !== null) {
      buffers.push(joined([...bins.low, ...bins.high, ...bins.mean]));
    }
    this.tell('msg:custom', content, buffers);
  }
}

/**
 * A table of runs that nothing stands behind: its one page can be sorted.
 */
class StaticTable extends BaseModel implements IModel {
  constructor(page: JsonObject) {
    super({ page, can: [] });
  }

  save_changes(): void {
    const asked = objectOf(this.get('asked'), 'What is asked for');
    const page = objectOf(this.get('page'), 'A saved table');
    this.set('page', sortedPage(page, String(asked['sort'])));
  }

  send(): void {
    // nobody would learn of it
  }
}

function joined(columns: readonly Float64Array[]): DataView {
  const length = columns[0]?.length ?? 0;
  const all = new Float64Array(length * columns.length);
  columns.forEach((column, place) => {
    all.set(column, place * length);
  });
  return new DataView(all.buffer);
}
