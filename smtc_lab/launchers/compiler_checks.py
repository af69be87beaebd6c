"""Why this machine cannot compile a job as it asks, before anything is started."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.launchers.job_environment import environment_name
from smtc_lab.machine.environments.named import TODAY, XLA, find_environment
from smtc_lab.machine.environments.probe import environment_facts, remedy

if TYPE_CHECKING:
    from smtc_lab.spec.compiler import TrainingCompilerConfig
    from smtc_lab.spec.job import TrainingJob

_INDUCTOR_ONLY = {"mode": "default", "dynamic": None, "per_block": None}


def compiler_problems(
    job: TrainingJob, *, num_trainers: int, runs_here: bool = True
) -> list[str]:
    """Return every reason why the job's compiler settings cannot be followed.

    A backend that cannot be used is no problem where the job may fall back to eager.

    Args:
        job: The job.
        num_trainers: Trainers of the job, on all instances.
        runs_here: Whether this machine compiles; what other machines lack is not known here.
    """
    config = job.compiler_config
    if config is None or not config.enabled:
        return []
    problems = _setting_problems(config)
    if config.fallback == "eager":
        return problems
    if config.backend == "xla" and num_trainers > 1:
        problems.append(_xla_problem(job, num_trainers))
    if runs_here and (missing := _missing(config.backend, environment_name(job))):
        problems.append(missing)
    return problems


def _xla_problem(job: TrainingJob, num_trainers: int) -> str:
    if job.distribution is not None:
        return (
            f"The compiler backend 'xla' trains with one trainer, but the distribution has "
            f"{num_trainers}. Use the backend inductor, or drop the distribution."
        )
    return (
        f"The compiler backend 'xla' trains on one instance, but the cluster has "
        f"{num_trainers} training instances. Use backend='inductor', or one training "
        "instance and data instances beside it."
    )


def runnable_backends() -> list[str]:
    """Return the backends that can run here: ``eager`` first."""
    found = [name for name in ("eager", "inductor") if _missing(name, TODAY) is None]
    return found if why_no_xla(TODAY) and why_no_xla(XLA) else [*found, "xla"]


def _setting_problems(config: TrainingCompilerConfig) -> list[str]:
    if config.backend in {"inductor", "auto"}:
        return []
    return [
        f"{name}={getattr(config, name)!r} is a setting of inductor, but backend="
        f"{config.backend!r}. Drop it, or use backend='inductor'."
        for name, default in _INDUCTOR_ONLY.items()
        if getattr(config, name) != default
    ]


def _missing(backend: str, environment: str) -> str | None:
    """Return what a backend lacks in an environment and how to get it; None: nothing."""
    if backend == "xla" and (why_not := why_no_xla(environment)) is not None:
        return f"The compiler backend 'xla' cannot be used: {why_not}"
    compiler = os.environ.get("CXX", "g++")  # as inductor looks for it
    if backend == "inductor" and shutil.which(compiler) is None:
        return (
            f"The compiler backend 'inductor' needs a C++ compiler, and there is no "
            f"{compiler!r} here. Install g++, or name another one in the environment variable "
            "CXX."
        )
    return None


def why_no_xla(environment: str) -> str | None:
    """Return why XLA cannot be used in an environment, and what to do; None: it can."""
    try:
        why_not = environment_facts(environment).why_not_xla
    except PythonEnvironmentError as error:
        return str(error)
    if why_not is None:
        return None
    if environment == XLA:
        return f"{why_not}. {remedy(find_environment(XLA))}"
    return (
        f"{why_not}. torch_xla 2.9 is the last one, and has an environment of its own with "
        "torch 2.9: make it with 'smtc-lab environment make xla', or use backend='inductor'."
    )
