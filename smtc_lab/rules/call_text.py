"""Lines of Python to be copied: a call for a script, with all that it was run with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.roles import training_groups
from smtc_lab.errors import CatalogError, SpecError

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob


def call_text(function: str, entry_point: str, **given: object) -> str:
    """Return a call for a script on one line; what is empty or None is left out."""
    named = [f", {name}={value!r}" for name, value in given.items() if value]
    return f"{function}({entry_point!r}{''.join(named)})"


def calibrate_text(job: TrainingJob) -> str:
    """Return the call that calibrates a job's script as the job ran it."""
    return call_text(
        "smtc_lab.calibrate",
        job.entry_point,
        hyperparameters=job.hyperparameters,
        arguments=job.arguments,
        environment=job.environment,
        device_s=_device_s(job),
    )


def _device_s(job: TrainingJob) -> str | None:
    """Return a declared device time with its accelerator, ``V100=0.008``; None: none is."""
    declared_s = None if job.emulation is None else job.emulation.device_step_time_s
    if declared_s is None:
        return None
    try:
        catalog = Catalog.load()
        names = {
            str(catalog.get(group.instance_type).accelerator)
            for group in training_groups(job.cluster, catalog)
        }
    except (CatalogError, SpecError):  # a type of another catalog
        names = set()
    name = names.pop().partition(" ")[2] if len(names) == 1 else ""
    return f"{name}={declared_s:g}" if name else f"{declared_s:g}"
