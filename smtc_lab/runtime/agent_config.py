"""What an agent must know of its instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import smtc_lab


@dataclass(frozen=True, kw_only=True)
class AgentConfig:
    """What an agent must know; ``agent.json``."""

    run_folder: str
    """Folder of the run."""

    host: str
    """Name of the instance: ``algo-1``, …"""

    hosts: dict[str, str]
    """Address of every host of the job."""

    instance_groups: list[tuple[str, str, int]]
    """Name, instance type and count of each group, in the job's order."""

    command: list[str]
    """What to run, before the hyperparameters as arguments."""

    hyperparameters: dict[str, object]
    """Hyperparameters of the job, SageMaker's own among them."""

    channels: dict[str, str]
    """Folder of each channel of this instance."""

    environment: dict[str, str]
    """Variables for the entry point, beyond those of the SageMaker contract."""

    num_cpus: int
    """What ``SM_NUM_CPUS``, torch and OpenMP take for the number of CPUs."""

    num_gpus: int
    """What ``SM_NUM_GPUS`` says."""

    cpu_quota_cores: float | None
    """Cores that the instance may use; None: no limit."""

    package_version: str = smtc_lab.__version__
    """Version of the package that launches; an agent of another one refuses."""

    memory_limit_bytes: int | None = None
    """Memory that each process of the entry point may take for its data; None: no limit."""

    resource_config: dict[str, Any] | None = None
    """Content of ``resourceconfig.json`` where the platform has written one; None: it is made
    from ``instance_groups``."""

    grace_s: float
    """Time between TERM and KILL in seconds."""
