"""Opens a record file to write to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from smtc_lab.store.tables import RECORDS_VERSION, TABLES

if TYPE_CHECKING:
    from pathlib import Path

_BUSY_MS = 5_000


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
