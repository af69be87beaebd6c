"""Real comparisons of a set-up with itself: how many claim a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import smtc_lab as lab
from smtc_lab.examples import example

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CLUSTER = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1"


def compared_with_themselves(
    count: int, root: Path, *, rounds: int, steps: int
) -> Iterator[dict[str, Any]]:
    """Yield what each comparison of the demo's faster set-up with itself says.

    Args:
        count: Comparisons.
        root: Folder of their runs.
        rounds: Launches of each side.
        steps: Steps of a launch.

    Raises:
        RunFailedError: A launch failed.
    """
    jobs = [
        lab.TrainingJob(
            entry_point=example("digits"),
            cluster=lab.Cluster.parse(f"{name}@{_CLUSTER}"),
            hyperparameters={"batch_size": 64, "work": 20},
            emulation=lab.Emulation(device_step_time_s=0.005),
            max_steps=steps,
        )
        for name in ("one", "same")
    ]
    for number in range(count):
        comparison = lab.compare(jobs, rounds=rounds, root=root).comparison
        (pair,) = comparison.pairs
        yield {
            "number": number,
            "speedup": pair.speedup.model_dump(),
            "claims": pair.speedup.side_of(1.0) != 0,
            "delivered": [each.cpu_delivered_fraction for each in comparison.clusters],
            "launch_means_s": [each.step_time_s.mean for each in comparison.clusters],
            "verdict": pair.verdict,
        }
