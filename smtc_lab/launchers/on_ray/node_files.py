"""What an instance has written on its node: told piece by piece to whoever mirrors it."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.instance.opt_ml import CHECKPOINTS, listing
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.store.query import query
from smtc_lab.store.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from smtc_lab.store.run_folder import RunFolder

ENDED_FILE = "ended.json"
"""How the instance ended, written by its keeper; in the instance's part of the run folder."""

_LOOK_S = 0.03
"""Time between two looks at the files, in seconds. The records come every 100 ms."""

_ROWS_AT_ONCE = 5_000
_LOG_BYTES_AT_ONCE = 2**20
_OUTPUTS = ("output", "model", CHECKPOINTS)

_ATTEMPT = AttemptRecord.__name__
_TABLES = {
    kind: TABLES[kind] for kind in sorted(TABLES, key=lambda kind: kind is AttemptRecord)
}
"""Attempts are read last: whoever sees a step of one sees where it goes on, too."""


class NodeFiles:
    """The run folder of one instance, on its node.

    Args:
        folder: The run folder; of this instance alone, and so is the folder around it.
        host: Name of the instance.
    """

    def __init__(self, folder: RunFolder, host: str) -> None:
        self._folder = folder
        self._host = host
        self._seen: dict[Path, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def news(self, cursor: dict[str, int], limit_s: float) -> dict[str, Any]:
        """Return what was written behind a cursor, as soon as there is something.

        Args:
            cursor: What the last call returned as ``cursor``; empty: from the begin. Asking
                with the same one again returns the same again.
            limit_s: Longest time to wait for something, in seconds.

        Returns:
            ``cursor``; ``logs``, bytes by file name; ``records``, lists of file name, name of
            the record class and rows, where an attempt goes on before its steps;
            ``checkpoints``, a ``listing`` of those whose records have been told by now, or None
            while some have not; ``ended``, how the instance ended, or None. What ended and has
            no news has told everything.
        """
        deadline = time.monotonic() + limit_s
        after = dict(cursor)
        while True:
            ended = self._ended()  # before the look, so that nothing can come behind it
            checkpoints = self.listing()  # their records are committed before they are there
            logs = dict(self._logs(after))
            records = list(self._records(after, is_last=ended is not None))
            if logs or records or ended is not None or time.monotonic() >= deadline:
                is_complete = all(len(rows) < _ROWS_AT_ONCE for _, _, rows in records)
                return {
                    "cursor": after,
                    "logs": logs,
                    "records": sorted(records, key=lambda told: told[1] != _ATTEMPT),
                    "checkpoints": checkpoints if is_complete else None,
                    "ended": ended,
                }
            time.sleep(_LOOK_S)  # others write these files

    def outputs(self) -> list[tuple[str, int]]:
        """Return what the entry point leaves behind: path below ``opt/ml``, and bytes."""
        base = self._folder.opt_ml(self._host)
        found = []
        for part in _OUTPUTS:
            for where, folders, names in os.walk(base / part):
                folders.sort()
                paths = [Path(where, name) for name in sorted(names)]
                found += [
                    (path.relative_to(base).as_posix(), path.stat().st_size)
                    for path in paths
                    if path.is_file() and not path.is_symlink()
                ]
        return found

    def read(self, path: str, offset: int, num_bytes: int) -> bytes:
        """Return a piece of one of the ``outputs``."""
        with (self._folder.opt_ml(self._host) / path).open("rb") as file:
            file.seek(offset)
            return file.read(num_bytes)

    def listing(self) -> list[tuple[str, int, int]]:
        """Return the checkpoints: path below ``opt/ml``, bytes, time of change in ns."""
        return listing(self._folder.opt_ml(self._host))

    def piece(self, told: tuple[str, int, int], offset: int, num_bytes: int) -> bytes | None:
        """Return a piece of a checkpoint; None: it is no longer as it was listed."""
        name, *stamp = told
        try:
            with (self._folder.opt_ml(self._host) / name).open("rb") as file:
                file.seek(offset)
                data = file.read(num_bytes)
                known = os.fstat(file.fileno())
        except OSError:
            return None
        return data if [known.st_size, known.st_mtime_ns] == stamp else None

    def put(self, told: tuple[str, int, int], offset: int, data: bytes) -> None:
        """Write a piece of a checkpoint of an earlier attempt."""
        name, _, changed_ns = told
        path = self._folder.opt_ml(self._host) / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with path.open("r+b" if offset else "wb") as file:
            file.seek(offset)
            file.write(data)
        os.utime(path, ns=(changed_ns, changed_ns))

    def remove(self, *, is_fetched: bool) -> None:
        """Remove everything. What the entry point saved stays until it was fetched.

        A lost connection must not cost a checkpoint.

        Args:
            is_fetched: Whether all ``outputs`` are elsewhere now.
        """
        self._folder.secret_file.unlink(missing_ok=True)
        if is_fetched or not self.outputs():
            shutil.rmtree(self._folder.path.parent, ignore_errors=True)

    def _ended(self) -> dict[str, Any] | None:
        path = self._folder.instance(self._host) / ENDED_FILE
        try:
            ended: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return ended

    def _logs(self, after: dict[str, int]) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self._folder.logs.glob("*.log")):
            offset = after.get(path.name, 0)
            if path.stat().st_size <= offset:
                continue
            with path.open("rb") as file:
                file.seek(offset)
                data = file.read(_LOG_BYTES_AT_ONCE)
            after[path.name] = offset + len(data)
            yield path.name, data

    def _records(
        self, after: dict[str, int], *, is_last: bool
    ) -> Iterator[tuple[str, str, list[list[Any]]]]:
        for path in sorted(self._folder.records.glob("*.sqlite")):
            keys = {kind: f"{path.name}:{kind.__name__}" for kind in TABLES}
            # taken before the rows are read: what comes meanwhile is seen the next time
            state = _state_of(path)
            if not is_last and self._seen.get(path) == (state, _rows_told(keys, after)):
                continue
            is_complete = True
            for kind, table in _TABLES.items():
                sql = f"{table.select()} LIMIT {_ROWS_AT_ONCE}"
                rows = query([path], sql, (after.get(keys[kind], 0),))
                if not rows:
                    continue
                after[keys[kind]] = rows[-1][0]
                is_complete &= len(rows) < _ROWS_AT_ONCE
                yield path.name, kind.__name__, [list(row[1:]) for row in rows]
            if is_complete:
                self._seen[path] = (state, _rows_told(keys, after))


def _rows_told(keys: Mapping[type, str], after: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(after.get(key, 0) for key in keys.values())


def _state_of(path: Path) -> tuple[int, ...]:
    """Return what changes when a record file or its log gets rows."""
    state: list[int] = []
    for part in (path, path.with_name(f"{path.name}-wal")):
        try:
            known = part.stat()
        except OSError:
            continue
        state += [known.st_size, known.st_mtime_ns]
    return tuple(state)
