"""Asks record files, also those that grow or whose writer was killed."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from smtc_lab.errors import NewerSchemaError, StoreError, UnsafeFileError
from smtc_lab.machine.beneath import check_beneath
from smtc_lab.store.tables import RECORDS_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_BUSY_MS = 2_000
_LONGEST_S = 20.0
"""Longest time that SQLite works on a question."""

_LONGEST_VALUE = 2**20
_LOOK_STEPS = 100_000
"""Instructions of SQLite's machine between two looks at the clock: some milliseconds."""

_FUNCTIONS = frozenset({"coalesce", "count", "max", "min", "avg", "substr"})
_MOST_WORDS = 300
_MOST_NAMES = 3
_NAME = re.compile(r"[a-z_0-9]+")


def query(
    paths: Sequence[Path], sql: str, values: Sequence[int | str] = ()
) -> list[tuple[Any, ...]]:
    """Return the rows that a statement finds in record files.

    Args:
        paths: At least one file; the first is ``main`` in the statement, the others ``r1``,
            ``r2``, … Any may be growing.
        sql: A ``SELECT``. Other threads run while SQLite works on it.
        values: What stands for its question marks.

    Returns:
        All rows; none where a file or a table is not there yet, as its writer has just begun.

    Raises:
        StoreError: A file is damaged or cannot be read.
    """
    try:
        files = [_checked(path) for path in paths]
    except FileNotFoundError:
        return []
    except UnsafeFileError as error:
        raise StoreError(f"The record file {_named(paths)} cannot be read. {error}") from error
    except OSError as error:
        raise StoreError(
            f"The record file {_named(paths)} cannot be read ({error.strerror}). Give yourself "
            "the right to read it."
        ) from error
    try:
        connection = _open(files)
        try:
            return list(connection.execute(sql, values))
        finally:
            connection.close()
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise damage(paths, str(error)) from error
    except (apsw.Error, UnicodeDecodeError) as error:
        if "no such table" in str(error):
            return []
        raise StoreError(
            f"The record file {_named(paths)} cannot be read ({_why(error)}). Give yourself "
            "the right to write to its folder, or read it with the smtc_lab version that "
            "wrote it."
        ) from error


def columns_there(paths: Sequence[Path], table: str) -> frozenset[str] | None:
    """Return words among which are the columns that a table has in every record file.

    Files of an older smtc_lab lack those that came later.

    Returns:
        None: the table is not there yet, in one of them.

    Raises:
        StoreError: A file is damaged or cannot be read.
    """
    sql = f"SELECT sql FROM sqlite_master WHERE name = '{table}'"  # noqa: S608  our own names
    made = [query([path], sql) for path in paths]
    if not all(made):
        return None
    return frozenset.intersection(*(frozenset(_NAME.findall(str(rows[0][0]))) for rows in made))


def numbers(
    rows: list[tuple[object, ...]], num_columns: int, paths: Sequence[Path]
) -> NDArray[np.float64]:
    """Return rows as columns, shape (C, N), NaN where not known.

    Raises:
        StoreError: There is a text among them.
    """
    try:
        return np.array(rows, dtype=np.float64).reshape(-1, num_columns).T
    except (ValueError, TypeError):
        raise damage(paths, "it holds a text where a number belongs") from None


def damage(paths: Sequence[Path], what: str) -> StoreError:
    """Return the error of record files that are damaged.

    Args:
        paths: One of them is.
        what: What is wrong, and the value.
    """
    return StoreError(
        f"The record file {_named(paths)} is damaged ({what}). The other files of the run can "
        "still be read; restore this one from a copy."
    )


def _named(paths: Sequence[Path]) -> str:
    names = ", ".join(repr(str(path)) for path in paths[:_MOST_NAMES])
    more = len(paths) - _MOST_NAMES
    return f"{names} or one of {more} more" if more > 0 else names


def _checked(path: Path) -> str:
    """Return the name of a record file by which SQLite may open it.

    SQLite opens what lies beside it, too, and follows links there: a write-ahead log is
    written to, and a rollback journal names files to delete. Ours never has a journal, but for
    a moment when its writer begins.

    Raises:
        FileNotFoundError: It is not there, or its writer has just begun.
        OSError: It is no plain file, or may not be read.
    """
    path = path.absolute()
    run = path.parents[min(1, len(path.parents) - 1)]
    name = check_beneath(run, path, beside=("-wal", "-shm"))
    if os.path.lexists(f"{path}-journal"):
        raise FileNotFoundError(path)
    return name


def _open(files: Sequence[str]) -> apsw.Connection:
    """Open read-only; a WAL without its index (its writer was killed) needs a writing open."""
    try:
        return _connected(files, apsw.SQLITE_OPEN_READONLY)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        return _connected(files, apsw.SQLITE_OPEN_READWRITE)


def _connected(files: Sequence[str], flags: int) -> apsw.Connection:
    connection = apsw.Connection(files[0], flags=flags | apsw.SQLITE_OPEN_NOFOLLOW)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.set_progress_handler(_alarm(), _LOOK_STEPS)
        for place, file in enumerate(files[1:], start=1):
            connection.execute(f"ATTACH ? AS r{place}", (file,))
        for place in range(len(files)):
            schema = f"r{place}" if place else "main"
            connection.execute(f"SELECT 1 FROM {schema}.sqlite_master").fetchall()  # noqa: S608  our own names
            (version,) = next(connection.execute(f"PRAGMA {schema}.user_version"))
            _check_version(files[place], version)
        connection.authorizer = _allowed
    except (apsw.Error, StoreError):
        connection.close()
        raise
    return connection


def _alarm() -> Callable[[], bool]:
    """Return what ends a question that takes too long; a hostile file can make it endless."""
    ends_s = time.monotonic() + _LONGEST_S
    return lambda: time.monotonic() > ends_s


def _allowed(
    action: int, _first: str | None, second: str | None, _schema: str | None, inside: str | None
) -> int:
    """Allow what our own questions need: no view, trigger or function that a file brings."""
    is_needed = action in {apsw.SQLITE_SELECT, apsw.SQLITE_READ} or (
        action == apsw.SQLITE_FUNCTION and second in _FUNCTIONS
    )
    return apsw.SQLITE_OK if is_needed and inside is None else apsw.SQLITE_DENY


def _why(error: Exception) -> str:
    if isinstance(error, apsw.InterruptError):
        return f"it took more than {_LONGEST_S:g} s"
    if isinstance(error, UnicodeDecodeError):  # which would quote it
        return "a text in it is not UTF-8"
    return str(error)[:_MOST_WORDS]


def _check_version(file: str, version: int) -> None:
    if version > RECORDS_VERSION:
        raise NewerSchemaError(
            f"The record file {file!r} was written by a newer smtc_lab (schema {version}), and "
            f"this one reads up to schema {RECORDS_VERSION}. Read it with the version that "
            "wrote it, or install a newer one."
        )
