"""A job's script, as views name it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from smtc_lab.launchers.kept_source import script_path

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob


def script_words(job: TrainingJob) -> str:
    """Return the path of a job's script with the arguments that it gets as they are.

    A script that was given back from another run's folder is told by its name.
    """
    arguments = [shlex.join(job.arguments)] if job.arguments else []
    return " ".join([script_path(job.entry_point), *arguments])
