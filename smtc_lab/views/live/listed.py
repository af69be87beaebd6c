"""One row of the list, followed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.changes import Changes
from smtc_lab.views.live.list_row import DAMAGED, Row, damaged_row, empty_row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Listed(ABC):
    """A run or a study of the list. Only one thread may look.

    Args:
        path: Its folder.
        kind: What it is, until it is read.
        files: Names of the files that are looked at again when they could not be read.
    """

    def __init__(self, path: Path, kind: str, files: tuple[str, str]) -> None:
        self.row: Row = empty_row(path.name, kind)
        """What the list tells of it; another object once that has changed."""
        self.is_final = False
        """Whether nothing of it will change, and all of it was taken in."""
        self._path = path
        self._names = files
        self._is_read = False
        self._files = Changes()

    def look(self, runs: Mapping[str, Row]) -> None:
        """Take in where it stands. Nothing is opened of what is final.

        Args:
            runs: The rows of all runs, by name.
        """
        if self.is_final or (self.row["state"] == DAMAGED and not self._has_changed()):
            return
        try:
            if not self._is_read:
                row = self._read()
                self._is_read = True
                self._update(row)
            self._update(self._standing(runs))
        except (SmtcLabError, OSError) as error:
            self._has_changed()  # it is read again when it has
            self.row = damaged_row(self.row, error)

    @abstractmethod
    def _read(self) -> Row:
        """Return the row with what does not change, and is read once.

        Raises:
            SmtcLabError: It is damaged.
        """

    @abstractmethod
    def _standing(self, runs: Mapping[str, Row]) -> Row:
        """Return the row with where it stands.

        Raises:
            SmtcLabError: It is damaged.
        """

    def _has_changed(self) -> bool:
        changed = [self._files.in_file(self._path / name) for name in self._names]
        return any(changed)

    def _update(self, row: Row) -> None:
        if row != self.row:
            self.row = row
