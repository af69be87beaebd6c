"""Brings what one instance says and records from its node to the run's folder."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import StoreError
from smtc_lab.launchers.supervision.gang import Exit
from smtc_lab.launchers.supervision.instances import InstanceEnd
from smtc_lab.store.tables import TABLES
from smtc_lab.store.writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.store.run_folder import RunFolder

_CLASSES = {record_class.__name__: record_class for record_class in TABLES}


class InstanceMirror:
    """Writes what an instance has told; one for an instance.

    A node's word is taken for what the run recorded, but not for where it belongs: nothing is
    written outside the instance's own files.

    Args:
        folder: The run's folder on this machine.
        host: Name of the instance.
    """

    def __init__(self, folder: RunFolder, host: str) -> None:
        self._folder = folder
        self._host = host
        self._writers: dict[str, RecordWriter] = {}

    def take(self, news: Mapping[str, Any]) -> None:
        """Keep log lines and records.

        Raises:
            StoreError: They cannot be kept, or are not those of the instance.
        """
        for name, data in news["logs"].items():
            if not re.fullmatch(rf"{re.escape(self._host)}(\.agent|-rank\d+)?\.log", name):
                raise _foreign(name, self._host)
            try:
                with (self._folder.logs / name).open("ab") as log:
                    log.write(data)
            except OSError as error:
                raise StoreError(
                    f"The log of {self._host} cannot be written: {error}. Free space, and run "
                    "again."
                ) from error
        for name, kind, rows in news["records"]:
            writer = self._writer(name)
            for row in rows:
                writer.append_values(_CLASSES[kind], tuple(row))

    def path_of(self, output: str) -> Path:
        """Return where one of the instance's outputs goes; its folder is made.

        Raises:
            StoreError: It would lie elsewhere.
        """
        parts = PurePosixPath(output)
        base = self._folder.opt_ml(self._host)
        path = base / parts
        if parts.is_absolute() or ".." in parts.parts:
            raise _foreign(output, self._host)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return path

    def close(self) -> None:
        """Write what is left.

        Raises:
            StoreError: Records could not be written.
        """
        for writer in self._writers.values():
            writer.close()

    def _writer(self, name: str) -> RecordWriter:
        if name not in self._writers:
            if not re.fullmatch(rf"{re.escape(self._host)}-[a-z]+\d*\.sqlite", name):
                raise _foreign(name, self._host)
            self._writers[name] = RecordWriter(self._folder.records / name)
        return self._writers[name]


def instance_end(values: Mapping[str, Any]) -> InstanceEnd:
    """Return how an instance ended, from what its keeper wrote.

    Args:
        values: Content of ``ended.json``.
    """
    return InstanceEnd(
        exit=Exit(**values["exit"]),
        problems=tuple(values["problems"]),
        facts=values["facts"],
    )


def _foreign(name: str, host: str) -> StoreError:
    return StoreError(
        f"The node of {host} sent {name[:80]!r}, which is not a file of that instance. Check "
        "that smtc-lab on the node is the one that you installed."
    )
