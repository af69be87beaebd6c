"""Pairs of clusters that are both planned and compared: which scripts, on which clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from notebooks.benchmarks.truth.known_jobs import ALONE, KnownScript
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.planner.calibration.calibrate import calibrate
from smtc_lab.planner.calibration.calibration import Calibration
from smtc_lab.planner.plan import plan
from smtc_lab.planner.run_prediction import predict_run
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.store.run_folder import find_runs
from smtc_lab.study.comparison.compare import compare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from smtc_lab.planner.plan import Plan

Row = dict[str, Any]
"""One comparison: its pairs and its launches."""

_STEPS = 1000
"""Steps of the planned job. Figures are of a sample, so any number says the same."""

SCRIPTS = (
    KnownScript(
        name="in process", workers=0, cpu_ms=3.0, batch_size=4, device_s=0.010, steps=12
    ),
    KnownScript(
        name="two workers", workers=2, cpu_ms=4.0, batch_size=4, device_s=0.012, steps=24
    ),
    KnownScript(
        name="two workers, slow device",
        workers=2,
        cpu_ms=1.0,
        batch_size=4,
        device_s=0.015,
        sample_bytes=16_000,
    ),
    KnownScript(
        name="all vCPUs", workers=8, cpu_ms=6.5, batch_size=8, device_s=0.007, steps=40
    ),
    KnownScript(
        name="all vCPUs, slow device",
        workers=8,
        cpu_ms=1.5,
        batch_size=8,
        device_s=0.015,
        sample_bytes=250_000,
    ),
)
"""From CPU-bound to device-bound, with 0, 2 and all of the 8 vCPUs as data workers."""


@dataclass(frozen=True, kw_only=True)
class Against:
    """Clusters that are compared with the lone trainer, in one comparison."""

    clusters: tuple[str, ...]
    """As ``Cluster.parse`` takes them."""

    rounds: int
    """Launches of each."""


ALTERNATIVES = (
    Against(
        clusters=(
            "small@g=ml.p3.2xlarge:1,d=ml.c5.2xlarge:1",
            "two@g=ml.p3.2xlarge:1,d=ml.c5.2xlarge:2",
            "trainers@g=ml.p3.2xlarge:2",
        ),
        rounds=3,
    ),
    Against(clusters=("large@g=ml.p3.2xlarge:1,d=ml.c5.9xlarge:1",), rounds=2),
)
"""Four clusters. The largest is by itself, since it slows all others of its comparison down."""


def calibration_of(script: KnownScript, root: Path, *, seconds: float) -> Calibration:
    """Return the calibration of a script; one that lies in the folder is used again.

    Args:
        script: What is calibrated.
        root: Folder of the runs.
        seconds: How long each launch measures.
    """
    job, kept = script.job(ALONE), root / f"{script.name}.json"
    if kept.is_file():
        asked = workload_hash(job.entry_point, job.hyperparameters)
        return Calibration.load(kept, workload=asked)
    found = calibrate(job, seconds_per_point=seconds, root=root)
    found.save(kept)
    return found


def compared(script: KnownScript, against: Against, root: Path, *, seconds: float) -> Row:
    """Return one comparison beside its plan.

    A comparison that lies in the folder is used again; what is predicted is made anew.

    Args:
        script: What is run.
        against: What is compared with the lone trainer.
        root: Folder of the runs.
        seconds: How long each launch of a calibration measures.

    Raises:
        RunFailedError: A launch failed.
    """
    calibration = calibration_of(script, root, seconds=seconds)
    clusters = (ALONE, *against.clusters)
    comparison = _comparison(script, against, root)
    made = plan(calibration, num_devices=None, steps=_STEPS)
    return {
        "what": "pairs",
        "script": script.name,
        "hyperparameters": dict(script.hyperparameters),
        "device_s": script.device_s,
        "emulation": comparison.emulation,
        "calibrated_cpu_speed": calibration.cpu_speed.value,
        "problems": list(calibration.problems),
        "load_at_start": comparison.machine.get("load_at_start"),
        "delivered": {each.name: each.cpu_delivered_fraction for each in comparison.clusters},
        "pairs": _pairs(made, clusters, comparison),
        "launches": _launches(calibration, comparison, root),
    }


def _comparison(script: KnownScript, against: Against, root: Path) -> Comparison:
    names = "-".join(text.partition("@")[0] for text in against.clusters)
    kept = root / f"{script.name}, {names}.comparison.json"
    if kept.is_file():
        return Comparison.from_json(kept.read_text(encoding="utf-8"))
    jobs = [script.job(cluster) for cluster in (ALONE, *against.clusters)]
    made = compare(jobs, rounds=against.rounds, root=root).comparison
    kept.write_text(made.to_json(), encoding="utf-8")
    return made


def _pairs(made: Plan, clusters: Sequence[str], comparison: Comparison) -> list[Row]:
    baseline, *others = (_Planned(made, text) for text in clusters)
    rows = []
    for planned, pair in zip(others, comparison.pairs, strict=True):
        saving = pair.judged_saving
        rows.append(
            {
                "cluster": pair.candidate,
                "unit": pair.unit,
                "faster": pair.judged_speedup.model_dump(mode="json"),
                "saves": None if saving is None else saving.model_dump(mode="json"),
                "planned_faster": planned.faster_than(baseline),
                "planned_saves": planned.saves(baseline),
                "verdict": pair.verdict,
            }
        )
    return rows


class _Planned:
    """What a plan says of one cluster, with the draws behind its intervals.

    Args:
        made: The plan.
        cluster: As ``Cluster.parse`` takes it.
    """

    def __init__(self, made: Plan, cluster: str) -> None:
        said = made.cluster(cluster)
        outlook = said.outlook
        rows = outlook.clusters_of(said.candidate.cluster)
        self.sample_s = said.step_draws_s() / float(outlook.ranks(rows)[0])
        self.usd_per_hour = float(rows.usd_per_hour(outlook.offers)[0])

    def faster_than(self, baseline: _Planned) -> dict[str, float]:
        """Return the speed-up of a sample over the baseline's, with its 80 % interval."""
        return _with_interval(baseline.sample_s / self.sample_s)

    def saves(self, baseline: _Planned) -> dict[str, float]:
        """Return the share of the baseline's cost of a sample that it saves."""
        own, other = (each.usd_per_hour * each.sample_s for each in (self, baseline))
        return _with_interval(1 - own / other)


def _with_interval(draws: NDArray[np.float64]) -> dict[str, float]:
    low, high = np.percentile(draws, [10, 90])
    return {"mean": float(draws[0]), "low": float(low), "high": float(high)}


def _launches(calibration: Calibration, comparison: Comparison, root: Path) -> list[Row]:
    """Return each launch beside its prediction, both in cluster time."""
    of_run = {name: each.name for each in comparison.clusters for name in each.runs}
    rows = []
    for folder in find_runs(root):
        if folder.job_name not in of_run:
            continue
        found = predict_run(calibration, folder)
        said = found.prediction
        rows.append(
            {
                "cluster": of_run[folder.job_name],
                "measured_s": None if found.step_time_s is None else found.step_time_s.mean,
                "predicted_s": said.step_time_s.mean,
                "low_s": said.step_time_s.low,
                "high_s": said.step_time_s.high,
                "bottleneck": said.bottleneck,
            }
        )
    return rows
