"""The launches of clusters that count, out of all runs of a comparison, and their ratios."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smtc_lab.metrics.intervals import ratio_interval
from smtc_lab.metrics.measured_columns import one_warm_up
from smtc_lab.metrics.measured_launch import MeasuredLaunch, measured_launch
from smtc_lab.metrics.records.records import ALONE
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.warm_up import is_settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.metrics.records.compiler_report import CompilerReport
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.metrics.result import Evidence, Interval
    from smtc_lab.spec.cluster import Cluster
    from smtc_lab.spec.compiler import TrainingCompilerConfig

COMPLETED = "Completed"
"""SageMaker's state of a run that counts."""


@dataclass(frozen=True, kw_only=True)
class MeasuredCluster:
    """One cluster with its measured launches, at least one."""

    label: str
    """What tables and charts call it."""

    launches: tuple[MeasuredLaunch, ...]
    """Completed launches with at least one measured step, in the order in which they ran."""

    rounds: tuple[int, ...]
    """Number of each launch's round, from 0; launches of other clusters with the same number
    ran beside it in time."""

    left_out: tuple[str, ...]
    """Why other runs of this cluster do not count, one sentence each."""

    @property
    def cluster(self) -> Cluster:
        """The instances that it is made of."""
        return self.launches[0].run.job.cluster

    @property
    def evidence(self) -> Evidence:
        """Whether the hardware was there or emulated."""
        return evidence_of(*(launch.run.job for launch in self.launches))

    @property
    def compiler_config(self) -> TrainingCompilerConfig | None:
        """What was asked of the compiler; None: nothing, the script ran as it is."""
        config = self.launches[0].run.job.compiler_config
        return config if config is not None and config.enabled else None

    @property
    def compiler_reports(self) -> list[CompilerReport]:
        """What the trainers of all launches told of their compiler, the first launch first."""
        return [report for each in self.launches for report in each.run.compiler.values()]

    @property
    def peak_memory_bytes(self) -> int | None:
        """Most memory that a trainer of any launch held; None: none of them told."""
        peaks = [report.peak_memory_bytes for report in self.compiler_reports]
        return max((peak for peak in peaks if peak is not None), default=None)

    @property
    def trains_apart(self) -> bool:
        """Whether its trainers never joined: each trains the whole model by itself."""
        return any(event.kind == ALONE for each in self.launches for event in each.run.events)

    @property
    def is_settled(self) -> bool:
        """Whether its steps look settled behind the warm-up."""
        cut = self.launches[0].warm_up_steps - self.launches[0].probed_steps
        return is_settled([launch.settling_time_s for launch in self.launches], cut)

    @property
    def step_times_s(self) -> list[NDArray[np.float64]]:
        """The job's step times of each launch in seconds, each of shape (S,)."""
        return [launch.step_time_s for launch in self.launches]


def measured_clusters(runs: Sequence[RunRecords]) -> list[MeasuredCluster]:
    """Return the clusters of a comparison, in the order in which they first appear.

    All leave out the same number of steps as warm-up, so that none is cut at its luckiest
    place.

    Args:
        runs: One for each launch, told apart by their labels. The first of each label is round
            0, the second round 1, whether it completed or not.

    Raises:
        ValueError: There is no run, two different clusters have one label, or a cluster has
            no completed run or no measured step.
    """
    if not runs:
        raise ValueError("There are no runs (got 0) to compare. Run at least one cluster.")
    by_label: dict[str, list[RunRecords]] = {}
    for run in runs:
        by_label.setdefault(run.label, []).append(run)
    clusters = [_measured_cluster(label, found) for label, found in by_label.items()]
    cut = one_warm_up([launch for cluster in clusters for launch in cluster.launches])
    return [
        replace(
            cluster, launches=tuple(launch.with_warm_up(cut) for launch in cluster.launches)
        )
        for cluster in clusters
    ]


def speedup_of(
    first: MeasuredCluster, second: MeasuredCluster, *, candidates: int, looks: int = 1
) -> Interval:
    """Return the step time of the first over that of the second; launches of a round are pairs.

    Args:
        first: The baseline.
        second: What is compared with it.
        candidates: How many are.
        looks: Moments at which it is looked at and may be believed.
    """
    ratio = ratio_interval(
        first.step_times_s,
        second.step_times_s,
        paired=first.rounds == second.rounds,
        candidates=candidates,
        looks=looks,
    )
    launches = (*first.launches, *second.launches)
    return ratio.of(evidence_of(*(launch.run.job for launch in launches)))


def is_known_within(runs: Sequence[RunRecords], within: float, *, looks: int) -> bool:
    """Return whether every speed-up is known so well that no further round is needed.

    Of one cluster alone there is no speed-up to know, so all its rounds are needed.

    Args:
        runs: Of whole rounds, the baseline's first.
        within: How far the ends of an interval may be from its mean, as a fraction of it.
        looks: After how many rounds this is asked at most.

    Raises:
        ValueError: A cluster has no completed run or no measured step.
    """
    baseline, *others = measured_clusters(runs)
    found = [speedup_of(baseline, each, candidates=len(others), looks=looks) for each in others]
    return bool(found) and all(
        each.spread == "launches"
        and each.high <= each.mean * (1 + within)
        and each.low >= each.mean * (1 - within)
        for each in found
    )


def _measured_cluster(label: str, runs: Sequence[RunRecords]) -> MeasuredCluster:
    clusters = {str(run.job.cluster): run for run in runs}
    if len(clusters) > 1:
        raise ValueError(
            f"Different clusters are called {label!r} ({'; '.join(clusters)}), so their runs "
            "cannot be told apart. Give each a name: NAME@GROUP=TYPE:COUNT."
        )
    if any(run.job.compiler_config != runs[0].job.compiler_config for run in runs):
        raise ValueError(
            f"Runs of {label!r} have different compiler settings, so they cannot be told "
            "apart. Give the cluster of each setting a name of its own: NAME@GROUP=TYPE:COUNT."
        )
    if len({run.job.python_environment for run in runs}) > 1:
        raise ValueError(
            f"Runs of {label!r} have different Python environments, so they cannot be told "
            "apart. Give the cluster of each environment a name of its own: "
            "NAME@GROUP=TYPE:COUNT."
        )
    launches, rounds, left_out = [], [], []
    for number, run in enumerate(runs):
        launch = measured_launch(run) if run.state == COMPLETED else None
        if launch is not None:
            launches.append(launch)
            rounds.append(number)
            continue
        why = "recorded no step" if run.state == COMPLETED else f"ended as {run.state}"
        left_out.append(f"Run {run.job.job_name} of {label} {why} and was left out.")
    if not launches:
        raise ValueError(
            f"Cluster {label!r} has no launch to measure: {' '.join(left_out)} Look into their "
            "logs with 'smtc-lab runs show NAME --log', mend the cause and run it again."
        )
    return MeasuredCluster(
        label=label,
        launches=tuple(launches),
        rounds=tuple(rounds),
        left_out=tuple(left_out),
    )
