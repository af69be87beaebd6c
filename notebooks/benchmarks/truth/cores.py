"""The same comparison on one core of this machine and on two: cluster time is one."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.harness.fresh import measured
from smtc_lab.examples import example
from smtc_lab.metrics.result import Interval
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare import compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CLUSTERS = ("alone@g=ml.p3.2xlarge:1", "fed@g=ml.p3.2xlarge:1,d=ml.c5.2xlarge:1")
_DEVICE_S = 0.005


def on_cores(cores: int, root: Path, *, rounds: int, steps: int) -> dict[str, Any]:
    """Return what a comparison says in a process that may use so many cores.

    One that lies in the folder is used again. How fast a core is is measured anew: two that
    are busy may be slower than one.

    Args:
        cores: Cores.
        root: Folder of the runs.
        rounds: Launches of each cluster.
        steps: Steps of each.

    Raises:
        RunFailedError: It failed.
    """
    kept = root / f"{cores} cores.json"
    if kept.is_file():
        found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    own = root / f"home-{cores}"
    own.mkdir(parents=True, exist_ok=True)
    row: dict[str, Any] = measured(
        f"a comparison on {cores} cores",
        "-m",
        "notebooks.benchmarks.truth.cores",
        *(str(root), str(cores), str(rounds), str(steps)),
        environment={"SMTC_LAB_HOME": str(own)},
    )
    kept.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    return row


def overlaps(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[bool]:
    """Return whether intervals of two kept rows overlap: step times, and the speed-up."""
    pairs = [
        *zip(one["step_time_s"], other["step_time_s"], strict=True),
        (one["speedup"], other["speedup"]),
    ]
    ends = [[Interval.model_validate(each) for each in pair] for pair in pairs]
    return [mine.low <= theirs.high and theirs.low <= mine.high for mine, theirs in ends]


def cores_figures(rows: Sequence[Mapping[str, Any]]) -> list[BenchFigure]:
    """Return how many intervals overlap on one core and on two; nothing of fewer rows."""
    if len(rows) < 2:
        return []
    found = overlaps(rows[0], rows[1])
    return [
        bench_figure(
            "intervals that overlap on one core and on two, of two step times and a speed-up",
            [sum(found)],
            unit="intervals",
            better="higher",
            goal=len(found),
        )
    ]


def cores_line(row: Mapping[str, Any]) -> str:
    """Return a kept row as a line."""
    ends = [*row["step_time_s"], row["speedup"]]
    said = [f"{each['mean']:.4g} ({each['low']:.4g} to {each['high']:.4g})" for each in ends]
    return f"{row['cores']} cores, D {row['dilation']:.1f}: {', '.join(said)}"


def main() -> None:
    """Compare on the named number of cores, and print what comes of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    for name in ("cores", "rounds", "steps"):
        parser.add_argument(name, type=int)
    asked = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked.cores])
    jobs = [
        TrainingJob(
            entry_point=example("digits"),
            cluster=Cluster.parse(text),
            hyperparameters={"batch_size": 64, "work": 20},
            environment={"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            emulation=Emulation(device_step_time_s=_DEVICE_S),
            max_steps=asked.steps,
        )
        for text in _CLUSTERS
    ]
    comparison = compare(jobs, rounds=asked.rounds, root=asked.root).comparison
    emulation, (pair,) = comparison.emulation or {}, comparison.pairs
    row = {
        "what": "cores",
        "cores": comparison.machine["cores"],
        "dilation": emulation["time_dilation"],
        "cpu_speed": emulation["cpu_speed"],
        "step_time_s": [
            each.step_time_s.model_dump(mode="json") for each in comparison.clusters
        ],
        "speedup": pair.speedup.model_dump(mode="json"),
        "delivered": [each.cpu_delivered_fraction for each in comparison.clusters],
    }
    sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
