"""Asks record files, also those that grow or whose writer was killed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from smtc_lab.errors import StoreError
from smtc_lab.store.tables import RECORDS_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_BUSY_MS = 2_000


def query(paths: Sequence[Path], sql: str, values: Sequence[int] = ()) -> list[tuple[Any, ...]]:
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
    if not all(path.exists() for path in paths):
        return []
    names = ", ".join(repr(str(path)) for path in paths)
    try:
        connection = _open(paths)
        try:
            return list(connection.execute(sql, values))
        finally:
            connection.close()
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreError(
            f"The record file {names} is damaged ({error}). The other files of the run can "
            "still be read; restore this one from a copy."
        ) from error
    except apsw.Error as error:
        if "no such table" in str(error):
            return []
        raise StoreError(
            f"The record file {names} cannot be read ({error}). Give yourself the right to "
            "write to its folder, or read it with the smtc_lab version that wrote it."
        ) from error


def _open(paths: Sequence[Path]) -> apsw.Connection:
    """Open read-only; a WAL without its index (its writer was killed) needs a writing open."""
    try:
        return _connected(paths, apsw.SQLITE_OPEN_READONLY)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        return _connected(paths, apsw.SQLITE_OPEN_READWRITE)


def _connected(paths: Sequence[Path], flags: int) -> apsw.Connection:
    connection = apsw.Connection(str(paths[0]), flags=flags)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        for place, path in enumerate(paths[1:], start=1):
            connection.execute(f"ATTACH ? AS r{place}", (str(path),))
        for place in range(len(paths)):
            schema = f"r{place}" if place else "main"
            connection.execute(f"SELECT 1 FROM {schema}.sqlite_master").fetchall()  # noqa: S608  our own names
            (version,) = next(connection.execute(f"PRAGMA {schema}.user_version"))
            _check_version(paths[place], version)
    except (apsw.Error, StoreError):
        connection.close()
        raise
    return connection


def _check_version(path: Path, version: int) -> None:
    if version > RECORDS_VERSION:
        raise StoreError(
            f"The record file {str(path)!r} is of version {version}, but this smtc_lab reads "
            f"up to version {RECORDS_VERSION}. Read it with the version that wrote it, or "
            "install a newer one."
        )
