"""A job's script, as views name it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob


def script_words(job: TrainingJob) -> str:
    """Return the path of a job's script with the arguments that it gets as they are."""
    return " ".join([job.entry_point, *([shlex.join(job.arguments)] if job.arguments else [])])
