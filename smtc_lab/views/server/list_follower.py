"""Follows the folders of all runs and comparisons, and tells of each what a list shows."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

from smtc_lab.follow.changes import Changes
from smtc_lab.machine.installed import loaded
from smtc_lab.views.kinds import FAMILIES
from smtc_lab.views.server.names import NAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.views.kinds import Family
    from smtc_lab.views.live.list_row import Row
    from smtc_lab.views.run.listed import ListedRun
    from smtc_lab.views.study.listed import ListedStudy

_COUNTING_S = 0.02
"""Time of a look in which the steps of runs that ended long ago are counted."""

L = TypeVar("L")


class ListFollower:
    """The rows of all runs and comparisons. May be used by several threads.

    A look asks the system for the time of two folders and for the files of what still goes on;
    files that did not change are not opened.

    Args:
        root: Folder of runs; comparisons lie beside it.
    """

    def __init__(self, root: Path) -> None:
        self._runs: _Folder[ListedRun] = _Folder(FAMILIES["run"], root)
        self._studies: _Folder[ListedStudy] = _Folder(FAMILIES["comparison"], root)
        self._lock = threading.Lock()

    def look(self) -> list[Row]:
        """Take in what is new, and return all rows, oldest first.

        A row that did not change is the same object as before.
        """
        with self._lock:
            self._runs.look()
            for run in self._runs.found.values():
                run.look({})
                if not run.has_ended:
                    run.look_at_steps()
            self._count_older()
            rows = {run.row["name"]: run.row for run in self._runs.found.values()}
            self._studies.look()
            for study in self._studies.found.values():
                study.look(rows)
                for launch in study.launches:
                    if launch.job_name in self._runs.found:
                        self._runs.found[launch.job_name].belongs_to(study.row["name"], launch)
            listed = (*self._runs.found.values(), *self._studies.found.values())
            found = [each.row for each in listed]
        return sorted(found, key=lambda row: (row["started_s"] or float("inf"), row["name"]))

    def _count_older(self) -> None:
        """Count the steps of runs that had ended before anybody looked, newest first."""
        ends_s = time.monotonic() + _COUNTING_S
        for run in reversed(self._runs.found.values()):
            if run.has_ended and not run.are_steps_final:
                run.look_at_steps()
                if time.monotonic() >= ends_s:
                    return


class _Folder(Generic[L]):
    """What lies in the folder of a family.

    Args:
        family: Runs, or studies.
        runs: Folder of runs.
    """

    def __init__(self, family: Family, runs: Path) -> None:
        self.found: dict[str, L] = {}
        """Those that are there, by name."""
        self._path = family.root(runs)
        self._marker = family.marker
        self._make: Callable[[Path], L] = loaded(family.listed)
        self._changes = Changes()
        self._inodes: dict[str, int] = {}
        self._is_begun = False

    def look(self) -> None:
        """Take in what was added and removed."""
        if not self._path.is_dir():
            self._inodes = {}
            self.found.clear()
        elif self._changes.in_file(self._path) or self._is_begun:
            self._scan()

    def _scan(self) -> None:
        with os.scandir(self._path) as entries:
            inodes = {
                entry.name: entry.inode()
                for entry in entries
                if NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            }
        for name, inode in self._inodes.items():
            if inodes.get(name) != inode:
                self.found.pop(name, None)
        self._inodes = inodes
        made_s: dict[str, float] = {}
        for name in inodes.keys() - self.found.keys():
            try:
                made_s[name] = os.lstat(f"{self._path}/{name}/{self._marker}").st_mtime
            except OSError:  # its launcher has just begun it, or has given it up
                continue
        for name in sorted(made_s, key=lambda name: (made_s[name], name)):
            self.found[name] = self._make(self._path / name)
        self._is_begun = len(self.found) < len(inodes)
