"""Write a job down for a cluster's own scheduler."""

from __future__ import annotations

import importlib
from inspect import signature
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SpecError

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob

FORMATS = {
    "slurm": "smtc_lab.launchers.render.slurm:slurm_script",
    "jobset": "smtc_lab.launchers.render.jobset:jobset_manifest",
}
"""What ``to`` takes, and what writes it."""


def render(
    job: TrainingJob,
    to: str,
    **options: Any,  # noqa: ANN401  each format has its own
) -> str:
    """Return the file that runs a job on a cluster. Starts nothing.

    Args:
        job: What to run.
        to: ``slurm`` for an sbatch script, ``jobset`` for a Kubernetes manifest.
        **options: What ``slurm_script`` or ``jobset_manifest`` takes beside the job.

    Raises:
        SpecError: The job cannot be written down; all reasons at once.
    """
    if to not in FORMATS:
        raise SpecError(f"There is no format {to[:80]!r}. Choose among {', '.join(FORMATS)}.")
    module, name = FORMATS[to].split(":")
    write: Any = getattr(importlib.import_module(module), name)
    known = [option for option in signature(write).parameters if option != "job"]
    if unknown := sorted(options.keys() - set(known)):
        raise SpecError(
            f"The format {to!r} takes no option {', '.join(unknown)}. It takes "
            f"{', '.join(known)}."
        )
    text: str = write(job, **options)
    return text
