const FIRST_ROOM = 1_024;

/**
 * The last rows of a table, in columns. Adding rows costs a copy of these rows alone.
 *
 * `smtc_lab.follow.ring` does the same in Python.
 */
export class Ring {
  /**
   * @param numColumns - Columns of each row.
   * @param capacity - Rows that are kept, at least 1.
   */
  constructor(
    readonly numColumns: number,
    readonly capacity: number
  ) {
    this._columns = this._allocate(Math.min(FIRST_ROOM, 2 * capacity));
  }

  /**
   * Rows that are there.
   */
  get length(): number {
    return this._end - this._begin;
  }

  /**
   * Add rows, column after column, dropping the oldest ones beyond the capacity.
   */
  append(values: readonly Float64Array[]): void {
    const given = values[0]?.length ?? 0;
    const added = Math.min(given, this.capacity);
    if (this._end + added > (this._columns[0]?.length ?? 0)) {
      this._makeRoom(added);
    }
    this._columns.forEach((column, place) => {
      const fresh = (values[place] as Float64Array).subarray(given - added);
      column.set(fresh, this._end);
    });
    this._end += added;
    this._begin = Math.max(this._begin, this._end - this.capacity);
  }

  /**
   * Return a column as it is in memory; it is overwritten by later rows.
   */
  column(place: number): Float64Array {
    const column = this._columns[place];
    if (column === undefined) {
      throw new RangeError(
        `There is no column ${place}; there are ${this.numColumns}.`
      );
    }
    return column.subarray(this._begin, this._end);
  }

  /**
   * Drop all rows.
   */
  clear(): void {
    this._begin = 0;
    this._end = 0;
  }

  private _makeRoom(added: number): void {
    const kept = Math.min(this.length, this.capacity - added);
    // twice of what is there, so that rows slide to the front only once in a while
    const room = Math.min(2 * this.capacity, 2 * (kept + added));
    const old = this._columns;
    if (room > (old[0]?.length ?? 0)) {
      this._columns = this._allocate(room);
    }
    this._columns.forEach((column, place) => {
      const source = old[place] as Float64Array;
      column.set(source.subarray(this._end - kept, this._end));
    });
    this._begin = 0;
    this._end = kept;
  }

  private _allocate(room: number): Float64Array[] {
    return Array.from(
      { length: this.numColumns },
      () => new Float64Array(room)
    );
  }

  private _columns: Float64Array[];
  private _begin = 0;
  private _end = 0;
}
