"""One set-up of a form, read as it is typed: what would be launched, and what predicts it."""

from __future__ import annotations

import functools
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import PlannerError, SpecError
from smtc_lab.planner.forecast.kept import KeptCalibrations
from smtc_lab.planner.forecast.launched import AskedSetUp
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.spec.emulation import Emulation
from smtc_lab.store.run_folder import runs_root
from smtc_lab.views.code.set_ups import placed, runnable
from smtc_lab.views.code.typed_job import typed_job

if TYPE_CHECKING:
    from smtc_lab.planner.forecast.calibrated import CalibratedModel

_MOST_SCRIPT_BYTES = 16 * 2**20
_WRONG = "Nothing is predicted while this set-up cannot be run. Mend what is wrong with it."


@dataclass(frozen=True, kw_only=True)
class TypedSetUp:
    """One set-up of a form."""

    problem: str = ""
    """Why it cannot be launched; empty: it can."""

    asked: AskedSetUp | None = None
    """What would be launched; None: nothing."""

    workload: tuple[str, bool] = ("", False)
    """Hash of its workload, and whether the device is emulated."""

    model: CalibratedModel | None = None
    """What predicts it; None: it was not calibrated."""


@functools.lru_cache(maxsize=4)
def _kept(root: Path) -> KeptCalibrations:
    return KeptCalibrations(root)


def read_set_up(value: object, folder: Path | None) -> TypedSetUp:
    """Return what is known of a set-up as it is typed, legal or not.

    Args:
        value: A ``TrainingJob`` as JSON.
        folder: Folder from which relative paths count; None: that of this process.
    """
    try:
        given = placed(typed_job(value), folder or Path.cwd())
        asked = AskedSetUp(job=runnable(given), emulation=given.emulation or Emulation())
    except SpecError:
        return TypedSetUp(problem=_WRONG)
    job = asked.job
    try:
        _refuse_endless(job.entry_point)
        found = workload_hash(job.entry_point, job.hyperparameters, job.arguments)
    except PlannerError as error:
        return TypedSetUp(problem=str(error))
    declared_s = None if job.emulation is None else job.emulation.device_step_time_s
    is_emulated = declared_s is not None
    model = _kept(runs_root()).newest(found, is_emulated=is_emulated)
    return TypedSetUp(asked=asked, workload=(found, is_emulated), model=model)


def _refuse_endless(entry_point: str) -> None:
    """Refuse a script that is no plain file of a sane size: it is read at each key."""
    try:
        found = Path(entry_point).stat()
    except (OSError, ValueError) as error:
        raise PlannerError(
            f"The entry point {entry_point[-200:]!r} cannot be read ({error}). Correct "
            "the path."
        ) from error
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_SCRIPT_BYTES:
        raise PlannerError(
            f"The entry point {entry_point[-200:]!r} is no plain file of at most "
            f"{_MOST_SCRIPT_BYTES:,} bytes. Correct the path."
        )
