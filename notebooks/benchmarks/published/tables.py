"""The two published experiments as jobs: clusters, prices, figures, and their scale models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import PUBLISHED_2022_PRICES, Catalog
from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.dilation import common_dilation
from smtc_lab.machine.cores import available_cores
from smtc_lab.metrics.columns import STEP, steps_of
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare import compare

if TYPE_CHECKING:
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.metrics.result import Interval
    from smtc_lab.study.comparison.compare import ComparisonOutcome


PUBLISHED_BATCH = 8192
"""Samples per step of both published experiments."""


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """One published comparison of a homogeneous and a heterogeneous cluster."""

    experiment: str
    """Name of its workload in ``script.py``."""

    homogeneous: str
    """The baseline cluster."""

    heterogeneous: str
    """The cluster with a data group."""

    step_time_s: tuple[float, float]
    """Published step times of the two, in seconds."""

    device_share: float
    """Device time over the published homogeneous step time."""

    device_share_source: str
    """Where that share comes from. It uses nothing of the heterogeneous row."""

    trainer_prepares: bool
    """Whether the published set-up let the trainer's own CPUs prepare batches beside a data
    group."""

    batch_size: int
    """Samples per step of the scale model."""

    @property
    def scaled_s(self) -> float:
        """Published homogeneous step time, in seconds, of the scale model's smaller batch."""
        return self.step_time_s[0] * self.batch_size / PUBLISHED_BATCH

    @property
    def device_s(self) -> float:
        """Device time of a step of that batch, in seconds."""
        return self.scaled_s * self.device_share

    @property
    def speedup(self) -> float:
        """Published speed-up."""
        return self.step_time_s[0] / self.step_time_s[1]


PYTORCH = PublishedTable(
    experiment="pytorch",
    homogeneous="homogeneous@dnn_group=ml.p3.2xlarge:1",
    heterogeneous="heterogeneous@dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1",
    step_time_s=(1.193, 0.184),
    device_share=0.10,
    device_share_source=(
        "121.5 ms of 1,193 ms: the step time that the published log shows once its producers "
        "had finished and only a filled queue was drained"
    ),
    trainer_prepares=False,
    batch_size=192,
)

TENSORFLOW = PublishedTable(
    experiment="tensorflow",
    homogeneous="homogeneous@dnn_group=ml.p4d.24xlarge:1",
    heterogeneous="heterogeneous@dnn_group=ml.p4d.24xlarge:1,data_group=ml.c5.18xlarge:2",
    step_time_s=(0.192, 0.086),
    device_share=0.45,
    device_share_source="45 %: the GPU utilization that was published for the homogeneous row",
    trainer_prepares=True,
    batch_size=224,
)


def scale_model(
    table: PublishedTable, *, steps: int, rounds: int, seed: int, root: Path
) -> ComparisonOutcome:
    """Re-create a published table as a scale model on this machine, in cluster time.

    Two launches of the homogeneous cluster come first, with next to no device time. What a
    step takes in them fixes how often each sample is transformed, so that the vCPUs do the
    published work. Then the two clusters are compared, with the published time of the device.

    Args:
        table: What was published.
        steps: Steps of each launch.
        rounds: Launches of each cluster.
        seed: Seed of every process.
        root: Folder of the runs.

    Raises:
        RunFailedError: A launch failed, or this machine's vCPUs are slower than the published.
    """
    catalog = published_catalog()
    clusters = [Cluster.parse(text) for text in (table.homogeneous, table.heterogeneous)]
    probes = [_job(table, cluster, None, steps=2, seed=seed) for cluster in clusters]
    dilation = common_dilation(probes, catalog, cores=available_cores())
    emulation = Emulation(time_dilation=dilation, device_step_time_s=table.device_s)
    quick = emulation.model_copy(update={"device_step_time_s": table.device_s / 100})

    def step_s(work: float) -> float:
        job = _working(_job(table, clusters[0], quick, steps=20, seed=seed), work)
        alone = compare([job], rounds=1, root=root, catalog=catalog).comparison
        return alone.clusters[0].step_time_s.mean

    once_s = step_s(1.0)
    most = table.scaled_s / once_s
    # part of a step is not of its transforms
    work = 1 + (table.scaled_s - once_s) * (most - 1) / (step_s(most) - once_s)
    jobs = [_job(table, each, emulation, steps=steps, seed=seed) for each in clusters]
    jobs = [_working(job, work) for job in jobs]
    return compare(jobs, rounds=rounds, root=root, catalog=catalog)


def published_catalog() -> Catalog:
    """Return the catalog at the prices of the published tables."""
    return Catalog.load().with_prices(PUBLISHED_2022_PRICES)


def beside_published(table: PublishedTable, outcome: ComparisonOutcome) -> dict[str, object]:
    """Return the scale model's ratios beside the published ones, and whether they agree.

    The speed-up agrees within 10 %, the saving within 3 points.

    Raises:
        RunFailedError: The comparison has no ratio or no price.
    """
    comparison = outcome.comparison
    speedup, saving = comparison.speedup, comparison.saving_fraction
    usd = [cluster.usd_per_hour for cluster in comparison.clusters]
    if speedup is None or saving is None or usd[0] is None or usd[1] is None:
        raise RunFailedError(
            f"The comparison of {table.experiment!r} has no speed-up or no price, so it cannot "
            "be laid beside the published one. Run both clusters with known prices."
        )
    published_saving = 1 - (usd[1] * table.step_time_s[1]) / (usd[0] * table.step_time_s[0])
    return {
        "experiment": table.experiment,
        "published_homogeneous_step_s": table.scaled_s,
        "homogeneous_step_s": _values(comparison.clusters[0].step_time_s),
        "published_speedup": table.speedup,
        "speedup": _values(speedup),
        "speedup_within_10_percent": abs(speedup.mean / table.speedup - 1) <= 0.10,
        "published_saving_fraction": published_saving,
        "saving_fraction": _values(saving),
        "saving_within_3_points": abs(saving.mean - published_saving) <= 0.03,
        "evidence": comparison.evidence,
        "cpu_delivered_fraction": {
            cluster.name: cluster.cpu_delivered_fraction for cluster in comparison.clusters
        },
        "rows": list(map(_row, outcome.runs)),
    }


def _row(run: RunRecords) -> dict[str, object]:
    """Return the recorded steps of one launch, in seconds, the warm-up first."""
    times_s = steps_of(run)[STEP["step_time_s"]]
    return {"cluster": run.label, "step_time_s": [round(float(x), 5) for x in times_s]}


def _values(interval: Interval) -> dict[str, float]:
    return {"mean": interval.mean, "low": interval.low, "high": interval.high}


def _job(
    table: PublishedTable,
    cluster: Cluster,
    emulation: Emulation | None,
    *,
    steps: int,
    seed: int,
) -> TrainingJob:
    prepares = table.trainer_prepares or not cluster.is_heterogeneous
    return TrainingJob(
        entry_point=str(Path(__file__).with_name("script.py")),
        cluster=cluster,
        hyperparameters={"experiment": table.experiment, "batch_size": table.batch_size},
        emulation=emulation or Emulation(),
        max_steps=steps,
        seed=seed,
        num_loader_workers=None if prepares else 0,
    )


def _working(job: TrainingJob, work: float) -> TrainingJob:
    """Return a job that transforms each sample so many times."""
    return job.model_copy(update={"hyperparameters": {**job.hyperparameters, "work": work}})
