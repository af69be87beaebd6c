"""Brings what one instance says and records from its node to the run's folder."""

from __future__ import annotations

import math
import os
import re
import time
from collections import deque
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import StoreError
from smtc_lab.instance.opt_ml import listing
from smtc_lab.launchers.supervision.gang import Exit
from smtc_lab.launchers.supervision.instances import InstanceEnd
from smtc_lab.store.tables import TABLES
from smtc_lab.store.writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from smtc_lab.store.run_folder import RunFolder

Told = tuple[str, int, int]
"""A checkpoint as it is listed; see ``listing``."""

PIECE_BYTES = 4 * 2**20
"""Bytes that one call brings, at most."""

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

    def flush(self) -> None:
        """Return when the records that were taken outlive this process."""
        for writer in self._writers.values():
            writer.flush()

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


class CheckpointMirror:
    """Keeps the checkpoints of an instance as its node has them, a piece at a time.

    Each comes whole or not at all, with the node's time of change, by which it is known again.
    It comes once the records of its steps are kept. What the node has no more goes when all
    others have come, and when the other instances are seen as late: trainers go on from what
    they have in common. So what lies here can be gone on from at any moment.

    Args:
        mirror: What keeps the instance's records.
        folder: The run's folder on this machine.
        host: Name of the instance.
        piece: Returns a piece of a checkpoint; see ``NodeFiles.piece``.
        seen_s: When each instance of the run is seen as it was, in seconds of
            ``time.monotonic``, for all of their mirrors.
    """

    def __init__(
        self,
        mirror: InstanceMirror,
        folder: RunFolder,
        host: str,
        *,
        piece: Callable[[Told, int, int], bytes | None],
        seen_s: dict[str, float],
    ) -> None:
        self._mirror = mirror
        self._host = host
        self._seen_s = seen_s
        seen_s[host] = 0.0
        self._asked_s = 0.0
        self._gone_s: dict[str, float] = {}
        self._base = folder.opt_ml(host)
        self._draft = folder.instance(host) / "checkpoint.draft"
        self._piece = piece
        self._listed: list[Told] = []
        self._waiting: deque[Told] = deque()
        self._is_whole = True
        self._at = 0
        self.is_busy = False
        """Whether there is more to bring."""

    def take(self, listed: Sequence[Sequence[Any]], asked_s: float) -> None:
        """Begin to bring what a node lists, unless what it listed before is on its way.

        Args:
            listed: What it lists.
            asked_s: When it was asked, in seconds of ``time.monotonic``.
        """
        if self.is_busy:
            return
        told: list[Told] = [(str(name), int(size), int(ns)) for name, size, ns in listed]
        here = set(listing(self._base))
        self._listed, self._asked_s, self._is_whole, self._at = told, asked_s, True, 0
        self._waiting = deque(one for one in told if one not in here)
        if self._waiting:
            self._mirror.flush()
        self.is_busy = True

    def end(self) -> None:
        """Let the others wait for this instance no longer."""
        self._seen_s[self._host] = math.inf

    def go_on(self, until_s: float = math.inf) -> None:
        """Bring pieces until a moment of ``time.monotonic``, at least one.

        Raises:
            StoreError: One would lie elsewhere.
            OSError: It cannot be written.
        """
        while self.is_busy:
            if not self._waiting:
                self.is_busy = False
                if self._is_whole:
                    self._seen_s[self._host] = self._asked_s
                    self._forget_others()
            elif not self._bring(self._waiting[0]):
                self._waiting.popleft()
                self._at = 0
            if time.monotonic() >= until_s:
                return

    def _bring(self, told: Told) -> bool:
        """Bring a piece of a checkpoint; return whether there is more of it."""
        name, num_bytes, changed_ns = told
        path = self._mirror.path_of(name)
        data = self._piece(told, self._at, PIECE_BYTES)
        if data is None:
            self._is_whole = False
            return False
        with self._draft.open("ab" if self._at else "wb") as draft:
            draft.write(data)
        self._at += len(data)
        if data and self._at < num_bytes:
            return True
        os.utime(self._draft, ns=(changed_ns, changed_ns))
        self._draft.replace(path)
        return False

    def _forget_others(self) -> None:
        """Remove what the node has no more; what makes others count goes first."""
        kept, now_s = {name for name, _, _ in self._listed}, time.monotonic()
        others = [name for name, _, _ in reversed(listing(self._base)) if name not in kept]
        self._gone_s = {name: self._gone_s.get(name, now_s) for name in others}
        seen = [at_s for host, at_s in self._seen_s.items() if host != self._host]
        seen_s = min(seen, default=math.inf)
        for name in others:
            if seen_s >= self._gone_s[name]:
                (self._base / name).unlink(missing_ok=True)


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
