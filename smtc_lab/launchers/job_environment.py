"""Which Python environment a job runs in, and what its instances are told of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments.named import TODAY, XLA, has_environment
from smtc_lab.machine.environments.probe import (
    EnvironmentFacts,
    environment_facts,
    todays_facts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob


def environment_name(job: TrainingJob) -> str:
    """Return the name of a job's environment on this machine.

    A job that asks for XLA and names no environment runs in that of XLA, where the one that
    launches has no torch_xla.
    """
    if job.python_environment is not None:
        return job.python_environment
    config = job.compiler_config
    wants_xla = config is not None and config.enabled and config.backend == "xla"
    if wants_xla and todays_facts().why_not_xla is not None and has_environment(XLA):
        return XLA
    return TODAY


def job_environment(job: TrainingJob) -> EnvironmentFacts:
    """Return what the environment of a job is.

    Raises:
        PythonEnvironmentError: It is not there, or cannot run a job.
    """
    return environment_facts(environment_name(job))


def environment_problems(job: TrainingJob) -> list[str]:
    """Return why a job's environment cannot run it on this machine; empty: it can."""
    try:
        job_environment(job)
    except PythonEnvironmentError as error:
        return [str(error)]
    return []


def elsewhere_problems(job: TrainingJob, where: str) -> list[str]:
    """Return what is wrong with naming what this machine alone has for another place.

    Args:
        job: The job.
        where: What brings the environment there, in words.
    """
    wrong = []
    if job.python_environment not in {None, TODAY}:
        wrong.append(
            f"python_environment={job.python_environment!r} names an interpreter of this "
            f"machine, but {where}. Leave it out, or launch the job on='local'."
        )
    if job.working_dir == "here":
        wrong.append(
            "working_dir='here' is a folder of this machine, but the job is launched "
            "elsewhere. Leave it out, or launch the job on='local'."
        )
    if job.market is not None:
        wrong.append(
            "market is played by this machine alone, but the job is launched elsewhere. Leave "
            "it out, or launch the job on='local'."
        )
    return wrong


def spot_problems(job: TrainingJob, where: str) -> list[str]:
    """Return why a place cannot start a job again whose instances were taken away.

    Args:
        job: The job.
        where: What the place is called.
    """
    if not job.use_spot_instances:
        return []
    wrong = (
        f"use_spot_instances=True, but on {where} nothing starts another attempt: the JobSet "
        "ends with its first failure, whatever that is. Leave it out, launch the job "
        "on='local', on='ray' or on='sagemaker', or render it to='slurm'."
    )
    return [wrong]


def interpreter_variables(
    facts: EnvironmentFacts, package: Path, given: dict[str, str]
) -> dict[str, str]:
    """Return the variables by which another environment's interpreter finds its own parts.

    Args:
        facts: The environment.
        package: Folder that shows it this package.
        given: What the job sets by itself.
    """
    path = given.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    programs = given.get("PATH", os.environ.get("PATH", os.defpath))
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(package), path])),
        "PATH": os.pathsep.join([os.path.dirname(facts.python), programs]),  # noqa: PTH120  not resolved
    }
