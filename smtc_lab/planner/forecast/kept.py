"""Finds the calibrations that are kept beside runs. Whoever filled the folder may mean harm."""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.machine.beneath import names_beneath, read_beneath
from smtc_lab.planner.calibration.calibration import FOLDER, Calibration
from smtc_lab.planner.forecast.calibrated import CalibratedModel

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.json")
_MOST_FILES = 1000

_State = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _KeptFile:
    state: _State
    """Time of its last change, its size and its number, by which another file is known."""

    created: datetime | None
    """When it was calibrated; None: the file is damaged."""

    model: CalibratedModel | None
    """What predicts from it; None: the file is damaged."""


class KeptCalibrations:
    """The calibrations in one folder of runs, each read once. May be used by several threads.

    What is damaged, of another version, no plain file or too long is passed over.

    Args:
        root: Folder of runs.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, _KeptFile] = {}
        self._lock = threading.Lock()

    def newest(self, workload: str, *, is_emulated: bool) -> CalibratedModel | None:
        """Return the newest calibration of a workload that can predict; None: there is none.

        Args:
            workload: What ``workload_hash`` says.
            is_emulated: Whether the device is emulated.
        """
        with self._lock:
            self._look()
            fitting = [
                (read.created, name, read.model)
                for name, read in self._files.items()
                if read.created is not None
                and read.model is not None
                and read.model.calibration.workload == workload
                and (read.model.calibration.emulated_device_s is not None) == is_emulated
            ]
        ordered = sorted(fitting, key=lambda each: each[:2], reverse=True)
        return next((model for *_, model in ordered if model.can_predict), None)

    def _look(self) -> None:
        """Read what is new, and forget what is gone."""
        found: dict[str, _KeptFile] = {}
        for name, state in self._newest_files():
            known = self._files.get(name)
            is_known = known is not None and known.state == state
            found[name] = known if known is not None and is_known else self._read(name, state)
        self._files = found

    def _newest_files(self) -> list[tuple[str, _State]]:
        states = []
        for name in names_beneath(self._root, FOLDER, _NAME):
            try:
                seen = os.lstat(self._root / FOLDER / name)
            except OSError:
                continue
            states.append((name, (seen.st_mtime_ns, seen.st_size, seen.st_ino)))
        states.sort(key=lambda each: each[1], reverse=True)
        return states[:_MOST_FILES]

    def _read(self, name: str, state: _State) -> _KeptFile:
        try:
            calibration = Calibration.from_json(read_beneath(self._root, f"{FOLDER}/{name}"))
            created = datetime.fromisoformat(calibration.created)
        except (SmtcLabError, OSError, ValueError, RecursionError):
            return _KeptFile(state, None, None)
        if created.tzinfo is None:
            created = created.replace(tzinfo=UTC)
        return _KeptFile(state, created, CalibratedModel(calibration))
