"""Jobs of the script of known cost, and what arithmetic says of their steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from notebooks.benchmarks.truth import known_cost
from smtc_lab.catalog.cpu_speed import relative_cpu_speed
from smtc_lab.catalog.roles import roles
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.instance_types import InstanceType

SCRIPT = Path(known_cost.__file__)
"""What is run."""

ALONE = "alone@g=ml.p3.2xlarge:1"
"""The cluster that all others are compared with."""


@dataclass(frozen=True, kw_only=True)
class KnownScript:
    """The script with values of its own, and the device that it is declared."""

    name: str
    """What tables call it."""

    workers: int
    """Data workers of its own dataloader."""

    cpu_ms: float
    """CPU time of a sample on this machine, in milliseconds."""

    batch_size: int
    """Samples of a step."""

    device_s: float
    """Declared time of the device for a step, in seconds."""

    sample_bytes: int = 32
    """Bytes of a sample."""

    steps: int = 30
    """Steps of a launch."""

    @property
    def batch_bytes(self) -> int:
        """Bytes of a batch."""
        return self.batch_size * self.sample_bytes

    @property
    def hyperparameters(self) -> dict[str, float | int]:
        """Values for the script."""
        return {
            "cpu_ms": self.cpu_ms,
            "sample_bytes": self.sample_bytes,
            "batch_size": self.batch_size,
            "workers": self.workers,
        }

    def job(self, cluster: str, *, dilation: float | None = None) -> TrainingJob:
        """Return the job that runs it on a cluster.

        Args:
            cluster: As ``Cluster.parse`` takes it.
            dilation: Time dilation; None: the least that fits.
        """
        return TrainingJob(
            entry_point=str(SCRIPT),
            cluster=Cluster.parse(cluster),
            hyperparameters=dict(self.hyperparameters),
            environment={"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            emulation=Emulation(device_step_time_s=self.device_s, time_dilation=dilation),
            max_steps=self.steps,
        )


def arithmetic_s(script: KnownScript, cluster: str, catalog: Catalog, *, speed: float) -> float:
    """Return what a step takes in cluster time, by arithmetic from what is known alone.

    All data workers, with a vCPU each, or the device: the longer of them. Of two vCPUs on one
    core the first to be busy does 1.6 times what each does beside the other. In process, a
    batch and the device take turns. Beside a data group the script's own data workers prepare
    batches, too, and the network bounds what the data group delivers.

    Args:
        script: What is run.
        cluster: One training instance, and at most one data group.
        catalog: Instance types.
        speed: Speed of a core of this machine, 1.0 for a vCPU of ml.p3.2xlarge.
    """
    parsed = Cluster.parse(cluster)
    role_of = roles(parsed, catalog)
    work_s = script.batch_size * script.cpu_ms / 1000 * speed
    own_per_s = fed_per_s = 0.0
    wire_per_s = math.inf
    for group in parsed.instance_groups:
        kind = catalog.get(group.instance_type)
        vcpu_per_s = relative_cpu_speed(group.instance_type, {}).value / work_s
        gbps = group.instance_count * (kind.network_gbps or math.inf)
        wire_per_s = min(wire_per_s, gbps * 1e9 / 8 / script.batch_bytes)
        if role_of[group.instance_group_name] == "data":
            fed_per_s = group.instance_count * kind.vcpus * vcpu_per_s
        elif script.workers == 0 and not parsed.is_heterogeneous:
            return script.device_s + 1 / (_in_vcpus(1, kind) * vcpu_per_s)
        else:
            own_per_s = _in_vcpus(min(script.workers, kind.vcpus), kind) * vcpu_per_s
    return max(script.device_s, 1 / (own_per_s + min(fed_per_s, wire_per_s)))


def _in_vcpus(busy: int, kind: InstanceType) -> float:
    """Return how many vCPUs of a fully busy instance do as much as so many busy ones."""
    if kind.threads_per_core != 2:
        return busy
    alone = min(busy, kind.vcpus // 2)
    return 1.6 * alone + 0.4 * (busy - alone)
