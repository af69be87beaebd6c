"""Why this machine cannot compile a job as it asks, before anything is started."""

from __future__ import annotations

import os
import shutil
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

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
        num_trainers: Training instances of its cluster.
        runs_here: Whether this machine compiles; what other machines lack is not known here.
    """
    config = job.compiler_config
    if config is None or not config.enabled:
        return []
    problems = _setting_problems(config)
    if config.fallback == "eager":
        return problems
    if config.backend == "xla" and num_trainers > 1:
        problems.append(
            f"The compiler backend 'xla' trains on one instance, but the cluster has "
            f"{num_trainers} training instances. Use backend='inductor', or one training "
            "instance and data instances beside it."
        )
    if runs_here and (missing := _missing(config.backend)):
        problems.append(missing)
    return problems


def runnable_backends() -> list[str]:
    """Return the backends that can run here: ``eager`` first."""
    return [name for name in ("eager", "inductor", "xla") if _missing(name) is None]


def _setting_problems(config: TrainingCompilerConfig) -> list[str]:
    if config.backend in {"inductor", "auto"}:
        return []
    return [
        f"{name}={getattr(config, name)!r} is a setting of inductor, but backend="
        f"{config.backend!r}. Drop it, or use backend='inductor'."
        for name, default in _INDUCTOR_ONLY.items()
        if getattr(config, name) != default
    ]


def _missing(backend: str) -> str | None:
    """Return what a backend lacks here and how to get it; None: nothing."""
    if backend == "xla":
        return _missing_xla()
    compiler = os.environ.get("CXX", "g++")  # as inductor looks for it
    if backend == "inductor" and shutil.which(compiler) is None:
        return (
            f"The compiler backend 'inductor' needs a C++ compiler, and there is no "
            f"{compiler!r} here. Install g++, or name another one in the environment variable "
            "CXX."
        )
    return None


def _missing_xla() -> str | None:
    if find_spec("torch_xla") is None:
        return (
            "The compiler backend 'xla' needs torch_xla, which is not installed. Run: pip "
            "install 'smtc-lab[xla]', or use backend='inductor'."
        )
    try:
        torch, torch_xla = version("torch"), version("torch_xla")
    except PackageNotFoundError:  # built from source without metadata: the run will tell
        return None
    if torch.split(".")[:2] != torch_xla.split(".")[:2]:
        return (
            f"torch_xla {torch_xla} was built for another torch than {torch}, and cannot be "
            f"loaded. Run: pip install 'torch_xla=={'.'.join(torch.split('.')[:2])}.*', or use "
            "backend='inductor'."
        )
    return None
