"""The measured part of one launch: steps behind the warm-up, and what instances used."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from smtc_lab.metrics.columns import STEP, SYSTEM_COLUMNS
from smtc_lab.metrics.utilization import cpu_utilization, samples_between
from smtc_lab.metrics.warm_up import common_warm_up, probed_steps, warm_up_steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from smtc_lab.spec.cluster import Cluster


@dataclass(frozen=True, kw_only=True)
class MeasuredColumns:
    """One launch after its warm-up. Has at least one step."""

    recorded: NDArray[np.float64]
    """All its steps, shape (C, N), columns as in ``STEP_COLUMNS``."""

    warm_up_steps: int
    """How many of them are left out at its begin."""

    cluster: Cluster
    """Where it ran."""

    samples: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Everything that was sampled, by host, shape (9, N), columns as in ``SYSTEM_COLUMNS``."""

    probed_steps: int = 0
    """How many of those that are left out a compiler was being chosen in."""

    num_cores: float | None = None
    """Cores of the machine, which stand for a quota that is not there; None: unknown."""

    @property
    def steps(self) -> NDArray[np.float64]:
        """The measured steps, shape (C, S)."""
        return self.recorded[:, self.warm_up_steps :]

    @property
    def settling_time_s(self) -> NDArray[np.float64]:
        """Step time of the job in seconds from when its compiler was chosen on."""
        times_s: NDArray[np.float64] = self.recorded[STEP["step_time_s"], self.probed_steps :]
        return times_s

    @property
    def warm_up_time_s(self) -> NDArray[np.float64]:
        """Step time of the job in seconds in the steps that are left out, shape (N - S,)."""
        times_s: NDArray[np.float64] = self.recorded[STEP["step_time_s"], : self.warm_up_steps]
        return times_s

    @property
    def step_time_s(self) -> NDArray[np.float64]:
        """Step time of the job in seconds, shape (S,): the longest of all ranks."""
        times_s: NDArray[np.float64] = self.steps[STEP["step_time_s"]]
        return times_s

    @property
    def gaps_s(self) -> NDArray[np.float64]:
        """Time between each two steps that follow each other, in seconds of this machine."""
        number, begin_s, end_s = (
            self.steps[STEP[name]] for name in ("step", "begin_time_s", "end_time_s")
        )
        follow = np.diff(number) == 1
        gaps_s: NDArray[np.float64] = np.maximum(0.0, begin_s[1:] - end_s[:-1])[follow]
        return gaps_s

    def with_warm_up(self, num_steps: int) -> Self:
        """Return it with so many steps left out behind its probes; at least one step stays."""
        cut = min(self.probed_steps + num_steps, self.recorded.shape[1] - 1)
        return replace(self, warm_up_steps=cut)

    @property
    def begin_s(self) -> float:
        """Begin of the first measured step of any rank, in seconds since the epoch."""
        return float(self.steps[STEP["begin_time_s"]].min())

    @property
    def end_s(self) -> float:
        """End of the last measured step, in seconds since the epoch."""
        return float(self.steps[STEP["end_time_s"]].max())

    @property
    def recorded_window_s(self) -> tuple[float, float]:
        """Begin of the first step and end of the last one, of any rank, warm-up included."""
        begins_s, ends_s = (
            self.recorded[STEP[name]] for name in ("begin_time_s", "end_time_s")
        )
        return float(begins_s[0]), float(ends_s.max())

    @property
    def recorded_times_s(self) -> NDArray[np.float64]:
        """Begin and end of each step, warm-up included, shape (2, N), since the epoch."""
        times_s: NDArray[np.float64] = self.recorded[[STEP["begin_time_s"], STEP["end_time_s"]]]
        return times_s

    def num_samples(self) -> int | None:
        """Return the samples in the measured steps of all ranks, or None when not known."""
        total = float(self.steps[STEP["num_samples"]].sum())
        return int(total) if np.isfinite(total) else None

    def group_samples(self, instance_group_name: str) -> NDArray[np.float64]:
        """Return what a group's instances used in the measured window, shape (9, N)."""
        window = (self.begin_s, self.end_s)
        inside = [
            samples_between(self.samples[host], begin_s=window[0], end_s=window[1])
            for host, group in self.cluster.hosts().items()
            if group.instance_group_name == instance_group_name and host in self.samples
        ]
        return np.concatenate([np.empty((len(SYSTEM_COLUMNS), 0)), *inside], axis=1)


def measured_columns(
    steps: NDArray[np.float64],
    *,
    cluster: Cluster,
    samples: Mapping[str, NDArray[np.float64]],
    num_cores: float | None,
    probe_steps: int,
) -> MeasuredColumns | None:
    """Return the measured part of a launch; None: it has no step.

    How many steps are warm-up is decided once for the job, on its own step times.

    Args:
        steps: All its steps so far, shape (C, N).
        cluster: Where it runs.
        samples: All samples of its instances, by host.
        num_cores: Cores of the machine; None: unknown.
        probe_steps: Steps at the begin in which a compiler was being chosen.
    """
    if steps.shape[1] == 0:
        return None
    time_s = steps[STEP["step_time_s"]]
    probed = probed_steps(steps[STEP["step"]], probe_steps=probe_steps)
    return MeasuredColumns(
        recorded=steps,
        warm_up_steps=probed + warm_up_steps(time_s[probed:]),
        probed_steps=probed,
        cluster=cluster,
        samples=samples,
        num_cores=num_cores,
    )


def one_warm_up(launches: Sequence[MeasuredColumns]) -> int:
    """Return the steps that all launches of one comparison leave out, but for probes.

    Args:
        launches: At least one, each with at least one step.
    """
    return common_warm_up([launch.settling_time_s for launch in launches])


def samples_of_group(
    launches: Sequence[MeasuredColumns], instance_group_name: str
) -> NDArray[np.float64]:
    """Return what a group's instances used in all measured windows, shape (9, N).

    Args:
        launches: Of one cluster, at least one.
        instance_group_name: The group.
    """
    return np.concatenate(
        [launch.group_samples(instance_group_name) for launch in launches], axis=1
    )


def cpu_of_groups(launches: Sequence[MeasuredColumns]) -> dict[str, float | None]:
    """Return by group the CPU time that its instances used over what they had, 0 to 1.

    Args:
        launches: Of one cluster, at least one.
    """
    names = [group.instance_group_name for group in launches[0].cluster.instance_groups]
    return {
        name: cpu_utilization(samples_of_group(launches, name), num_cores=launches[0].num_cores)
        for name in names
    }
