"""Who prepares the batches of a run, while it grows."""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import TYPE_CHECKING

from smtc_lab.follow.changes import Changes
from smtc_lab.follow.file_pace import FilePace
from smtc_lab.metrics.compared.prepared import batches_by_server
from smtc_lab.metrics.records.records import LoaderRecord
from smtc_lab.store.reader import read_records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from smtc_lab.metrics.compared.prepared import Served

_LOOK_S = 1.0
"""A loader records once a second at most."""

_RANK_S = 0.008
"""Least time from one look to the next, for each rank: 5 % of a core."""


class LoaderCounts:
    """Counts the batches of a job's ranks by who prepared them.

    Args:
        paths: The record file of each rank, also of those that are not there yet.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._counts: dict[Path, Counter[str]] = {path: Counter() for path in paths}
        self._rows = dict.fromkeys(paths, 0)
        self._changes = Changes()
        self._due_s = -math.inf
        self._pace = FilePace(_RANK_S)

    @property
    def served(self) -> Served:
        """The batches so far."""
        return {path.stem: counts for path, counts in self._counts.items()}

    def look(self, *, is_last: bool = False) -> None:
        """Take in what is new, once a second at most.

        Args:
            is_last: Whether the run has ended, so that all of it is there.

        Raises:
            StoreError: A file is damaged or cannot be read.
        """
        now_s = time.monotonic()
        if not is_last and now_s < self._due_s:
            return
        if not self._pace.is_due(len(self._counts), is_last=is_last):
            return
        self._due_s = now_s + _LOOK_S
        for path, counts in self._counts.items():
            if is_last or self._changes.in_file(path):
                after = self._rows[path]
                records, self._rows[path] = read_records(path, LoaderRecord, after=after)
                counts.update(batches_by_server(records))
