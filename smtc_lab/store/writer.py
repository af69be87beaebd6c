"""Writes the records of one process into one file, in the background."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

import apsw

from smtc_lab.errors import StoreError
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.records.metric_record import MetricRecord
from smtc_lab.store.tables import RECORDS_VERSION, TABLES, Record, RecordSink, Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

_COMMIT_INTERVAL_S = 0.1
_COMMIT_RECORDS = 512
_BUSY_MS = 5_000

if tuple(map(int, apsw.sqlite_lib_version().split("."))) < (3, 51, 3):
    raise StoreError(
        f"SQLite {apsw.sqlite_lib_version()} can lose committed rows in WAL mode (mended in "
        "3.51.3). Run: pip install --upgrade apsw."
    )


def open_record_file(path: Path) -> apsw.Connection:
    """Return a connection to a private record file that has every table; made where it is not.

    Raises:
        apsw.Error: It cannot be made, or is none.
        OSError: It cannot be made private.
    """
    connection = apsw.Connection(str(path))
    # A reader that looks at this very moment must not fail the run.
    connection.set_busy_timeout(_BUSY_MS)
    path.chmod(0o600)
    connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA user_version={RECORDS_VERSION}")
    for table in TABLES.values():
        connection.execute(table.create)
    return connection


class RecordWriter(RecordSink):
    """Keeps records in one SQLite file that others may read while it grows.

    ``append`` only puts the record on a list; a thread commits every 100 ms or 512 records. A
    committed record survives the death of the process. One writer for one file.

    Raises:
        StoreError: The file cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # A deque, as appending to it and taking from it are atomic.
        self._waiting: deque[tuple[type[Record], tuple[object, ...]]] = deque()
        self._flushes: deque[threading.Event] = deque()
        self._wake = threading.Event()
        self._closing = False
        self._error: StoreError | None = None
        try:
            self._connection = open_record_file(path)
        except (apsw.Error, OSError) as error:
            raise StoreError(
                f"The record file {str(path)!r} cannot be made. {_what(error)}. Free space or "
                "choose another folder, and run again."
            ) from error
        self._thread = threading.Thread(target=self._run, name="smtc-records", daemon=True)
        self._thread.start()

    def flush(self) -> None:
        """Return when what was appended is committed, or cannot be."""
        done = threading.Event()
        self._flushes.append(done)
        self._wake.set()
        while not done.wait(_COMMIT_INTERVAL_S) and self._thread.is_alive():
            pass

    def append_values(self, record_class: type[Record], values: tuple[object, ...]) -> None:
        """Keep a record given as the values of its fields, in order: 2 µs less for a hot loop.

        Raises:
            StoreError: An earlier record could not be written (the disk is full, say).
        """
        if self._error is not None:
            raise self._error
        self._waiting.append((record_class, values))
        if len(self._waiting) >= _COMMIT_RECORDS:
            self._wake.set()

    def close(self) -> None:
        """Write what is left and close the file. Safe to call twice.

        Raises:
            StoreError: Records could not be written; says how many.
        """
        if self._closing:
            return
        self._closing = True
        self._wake.set()
        self._thread.join()
        self._connection.close()
        if self._error is not None:
            raise self._error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while self._error is None:
            self._wake.wait(_COMMIT_INTERVAL_S)
            self._wake.clear()
            closing = self._closing
            flushes = [self._flushes.popleft() for _ in range(len(self._flushes))]
            self._commit()
            for done in flushes:
                done.set()
            if closing:
                return

    def _commit(self) -> None:
        records = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if not records:
            return
        try:
            with self._connection:
                for record_class, values in records:
                    keep_row(self._connection, TABLES[record_class], values)
        except Exception as error:  # noqa: BLE001  else the thread would end without a word
            self._error = StoreError(
                f"{len(records)} records could not be written to {str(self._path)!r}. "
                f"{_what(error)}. Records written before are kept. Free space or choose "
                "another folder, and run again."
            )
            self._error.__cause__ = error


def keep_row(connection: apsw.Connection, table: Table, values: Sequence[object]) -> None:
    """Add a row to a record file; that of an attempt replaces the steps it does again.

    Raises:
        apsw.Error: It cannot be written.
    """
    if table is TABLES[AttemptRecord]:
        attempt, time_s, first_step, *lost = values
        found = _forget_steps(connection, first_step)
        values = (attempt, time_s, first_step, *(lost if any(lost) else found))  # of a copy
    connection.execute(table.insert, values)


def _forget_steps(connection: apsw.Connection, first_step: object) -> tuple[int, float]:
    """Remove the records of steps from one on; return how many steps, and their seconds."""
    count, seconds, begin_s = connection.execute(_LOST, {"first": first_step}).get
    for table in TABLES.values():
        if "step" in table.columns:
            # the step of a metric counts what its script counts, so its time decides
            is_metric = table is TABLES[MetricRecord]
            connection.execute(
                f"DELETE FROM {table.name} "  # noqa: S608  our own names
                f"WHERE {'time_s > ?' if is_metric else 'step >= ?'}",
                (begin_s if is_metric else first_step,),
            )
    return int(count), max(0.0, float(seconds or 0.0))


_LOST = """
    SELECT count(*), max(end_time_s) - coalesce(
        (SELECT max(end_time_s) FROM step_record WHERE step < :first),
        min(end_time_s - step_time_s)), min(end_time_s - step_time_s)
    FROM step_record WHERE step >= :first
"""


def _what(error: Exception) -> str:
    if isinstance(error, apsw.FullError):
        return "The disk is full"
    if isinstance(error, apsw.Error):
        return f"SQLite says: {error}"
    return f"{type(error).__name__}: {error}"
