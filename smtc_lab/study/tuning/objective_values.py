"""Reads the values of a trial's objective, as its run grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.follow.changes import Changes
from smtc_lab.follow.logged.metric_file import MetricFile
from smtc_lab.store.run_folder import RANK_RECORDS
from smtc_lab.store.steps.logged import RECORDS, rank_of

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder


class ObjectiveValues:
    """The values of one metric of a run, of the first rank that logs it.

    Args:
        folder: Of the run.
        objective: Name of the metric.
    """

    def __init__(self, folder: RunFolder, objective: str) -> None:
        self._folder, self._objective = folder, objective
        self._changes = Changes()
        self._files: dict[Path, MetricFile] = {}
        self._values: dict[Path, list[float]] = {}

    def read(self) -> list[float]:
        """Return them so far; only what is new is read.

        Raises:
            StoreError: A record file is damaged or cannot be read.
        """
        paths = sorted(self._folder.record_files(RECORDS), key=_place)
        for path in paths:
            if self._changes.in_file(path):
                self._take(path)
        return next((self._values[path] for path in paths if self._values.get(path)), [])

    def _take(self, path: Path) -> None:
        file = self._files.setdefault(path, MetricFile(path))
        if file.look():  # an attempt does steps again
            file = self._files[path] = MetricFile(path)
            file.look()
            self._values.pop(path, None)
        names = [name for name in file.new if name == self._objective]
        for _, _, values in file.read(names):
            self._values.setdefault(path, []).extend(values.tolist())


def _place(path: Path) -> tuple[bool, int]:
    """Return where a file stands: ranks in order, and what was found in texts behind them."""
    is_rank = RANK_RECORDS.fullmatch(path.name) is not None
    return not is_rank, rank_of(path) if is_rank else 0
