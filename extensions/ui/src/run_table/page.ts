import {
  listField,
  numberField,
  objectOf,
  textField,
  wordField,
  type JsonObject
} from '@smtc-lab/protocol';

const KINDS = ['time', 'seconds', 'usd', 'number', 'text', 'bool'] as const;
const LIVE: readonly unknown[] = ['Pending', 'InProgress', 'Stopping'];

/**
 * A value of a run; null: not known.
 */
export type Cell = string | number | boolean | null;

/**
 * What can be a column.
 */
export interface IColumn {
  readonly name: string;
  readonly title: string;
  readonly kind: (typeof KINDS)[number];
}

/**
 * A run or a study.
 */
export interface ITableRow {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly title: string;
  readonly tags: string;
  readonly note: string;
  readonly launch: string;
  readonly isLaunch: boolean;
  readonly isOpen: boolean;
  readonly isLive: boolean;
  readonly cells: readonly Cell[];
}

/**
 * A page of the table of runs.
 *
 * Mirrors `smtc_lab.views.run_table.page.Pages.page`.
 */
export interface IPage {
  /**
   * Rows of the whole table, those that were found, and the place of the first one here.
   */
  readonly total: number;
  readonly found: number;
  readonly first: number;

  /**
   * Where the runs lie.
   */
  readonly root: string;
  readonly columns: readonly IColumn[];

  /**
   * Names of the columns that are not the same in all rows here.
   */
  readonly differing: ReadonlySet<string>;
  readonly known: readonly IColumn[];
  readonly rows: readonly ITableRow[];
}

/**
 * What a view asks for; mirrors `smtc_lab.views.run_table.page.Asked`.
 */
export interface IAsked {
  readonly where: string;
  readonly sort: string;
  readonly columns: readonly string[];
  readonly first: number;
  readonly launches: readonly string[];
}

/**
 * In place of a study: every launch is a row.
 */
export const ALL = '*';

/**
 * Read a page.
 *
 * @throws {@link ProtocolError} when it is damaged.
 */
export function parsePage(json: unknown): IPage {
  const page = objectOf(json, 'A page of runs');
  const known = listField(page, 'known', columnOf);
  const byName = new Map(known.map(column => [column.name, column]));
  const names = listField(page, 'columns', String);
  const columns = names.map(
    name => byName.get(name) ?? { name, title: name, kind: 'text' as const }
  );
  return {
    total: numberField(page, 'total'),
    found: numberField(page, 'found'),
    first: numberField(page, 'first'),
    root: textField(page, 'root'),
    known,
    columns,
    // an earlier version told none
    differing: new Set(
      page['differing'] === undefined
        ? names
        : listField(page, 'differing', String)
    ),
    rows: listField(page, 'rows', rowOf)
  };
}

/**
 * Return what tells a row from all others.
 */
export function keyOf({ kind, name }: ITableRow): string {
  return `${kind}/${name}`;
}

function columnOf(json: unknown): IColumn {
  const column = objectOf(json, 'A column');
  return {
    name: textField(column, 'name'),
    title: textField(column, 'title'),
    kind: wordField(column, 'kind', KINDS)
  };
}

function rowOf(json: unknown): ITableRow {
  const row = objectOf(json, 'A row of a table');
  const text = (field: string): string => textField(row, field);
  return {
    name: text('name'),
    kind: text('kind'),
    state: text('state'),
    title: text('title'),
    tags: text('tags'),
    note: text('note'),
    launch: text('launch'),
    isLaunch: numberField(row, 'depth') > 0,
    isOpen: row['is_open'] === true,
    isLive: LIVE.includes(row['state']),
    cells: listField(row, 'cells', cellOf)
  };
}

function cellOf(value: unknown): Cell {
  return ['string', 'number', 'boolean'].includes(typeof value)
    ? (value as Cell)
    : null;
}

/**
 * Return rows of a saved page in another order; what is not known comes last.
 *
 * @param page - As JSON.
 * @param sort - A column of the page, with `-` before it: greatest first.
 */
export function sortedPage(page: JsonObject, sort: string): JsonObject {
  const { columns, rows } = parsePage(page);
  const place = columns.findIndex(
    ({ name }) => name === sort.replace(/^-/, '')
  );
  const sign = sort.startsWith('-') ? -1 : 1;
  const of = (row: number): Cell => rows[row]?.cells[place] ?? null;
  const order = [...rows.keys()].sort((one, other) => {
    const [left, right] = [of(one), of(other)];
    if (left === null || right === null) {
      return Number(left === null) - Number(right === null);
    }
    return left === right ? 0 : left < right ? -sign : sign;
  });
  const given = page['rows'] as readonly unknown[];
  return { ...page, rows: order.map(row => given[row]) };
}
