"""The bubble of emulated stages beside the formula of their schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.harness.rounds import in_turns
from notebooks.benchmarks.harness.table import text_table
from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.metrics.pipeline.bubble import ideal_bubble
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.spec.pipeline_placement import num_stages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from notebooks.benchmarks.harness.figure import BenchFigure
    from smtc_lab.metrics.pipeline.times import PipelineTimes
    from smtc_lab.spec.distribution import Schedule

Row = dict[str, Any]

BUBBLE = 0.1
"""How far a bubble may be from the formula, as idle over busy time."""

SET_UPS: tuple[tuple[Schedule, int, int], ...] = (
    ("gpipe", 2, 4),
    ("gpipe", 2, 8),
    ("gpipe", 4, 4),
    ("gpipe", 4, 8),
    ("1f1b", 2, 4),
    ("1f1b", 2, 8),
    ("1f1b", 4, 4),
    ("1f1b", 4, 8),
    ("interleaved1f1b", 2, 4),
    ("interleaved1f1b", 2, 8),
    ("interleaved1f1b", 4, 4),
    ("interleaved1f1b", 4, 8),
)
"""Schedule, ranks and microbatches."""

_LONGEST_S = 300.0
_LAYERS = 8
_COMPUTED_S = 0.09
"""Declared time of forward and backward of a microbatch on each rank, in seconds."""

_SCRIPT = """\
import torch
from torch import nn
import smtc_lab

class Shift(nn.Module):
    "Nothing to compute, but the first layer's inputs need a gradient as all others' do."
    def __init__(self):
        super().__init__()
        self.by = nn.Parameter(torch.zeros(16))
    def forward(self, values):
        return values + self.by

torch.set_num_threads(1)
session = smtc_lab.Session()
torch.manual_seed(0)
layers = [nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(LAYERS)]
model = nn.Sequential(Shift(), *layers)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
model, optimizer = session.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(STEPS * 16, 16))
for (values,) in session.steps(session.dataloader(data, batch_size=16, num_workers=0)):
    optimizer.zero_grad()
    session.step(values, None, lambda out, _: out.square().mean())
    optimizer.step()
"""


def pipeline_rounds(
    folder: Path,
    *,
    set_ups: Sequence[tuple[Schedule, int, int]] = SET_UPS,
    steps: int = 5,
    rounds: int = 1,
) -> Iterator[Row]:
    """Yield the bubble of launched pipelines of equal stages, whose devices are emulated.

    Args:
        folder: Where runs are kept.
        set_ups: Schedule, ranks and microbatches of each.
        steps: Of each run; the first is left out.
        rounds: How many.
    """
    for number in range(rounds):
        for schedule, ranks, microbatches in in_turns(list(set_ups), number):
            name = f"{schedule}-{ranks}-{microbatches}-{number}"
            times = _run(folder / name, schedule, ranks, microbatches, steps).pipeline
            if times is None or times.bubble is None:
                raise RunFailedError(
                    f"No step of {name} was timed on all ranks. Look at the run in {folder}."
                )
            yield {
                "round": number,
                "what": f"{schedule}, {ranks} ranks, {microbatches} microbatches",
                "bubble": times.bubble,
                "least": min(_bubbles(times)),
                "ideal": ideal_bubble(
                    schedule,
                    ranks=ranks,
                    stages=len(times.stages),
                    microbatches=microbatches,
                ),
                "waited": sum(one.wait_s or 0.0 for one in times.ranks)
                / sum(one.busy_s or 0.0 for one in times.ranks),
                "imbalance": times.imbalance,
            }


def pipeline_figures(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield how far the bubble of each set-up's best step is from the formula.

    Other work on the machine only makes bubbles larger.
    """
    for what in dict.fromkeys(row["what"] for row in rows):
        yield bench_figure(
            f"distance of the bubble from the formula, {what}",
            [abs(row["least"] - row["ideal"]) for row in rows if row["what"] == what],
            unit="idle / busy",
            better="lower",
            goal=BUBBLE,
        )


def pipeline_table(rows: Sequence[Row]) -> str:
    """Return each bubble beside the formula, and what of it was waiting for others."""
    return text_table(
        ["set-up", "round", "idle / busy", "best step", "formula", "of it waited", "imbalance"],
        [
            [
                row["what"],
                str(row["round"]),
                f"{row['bubble']:.3f}",
                f"{row['least']:.3f}",
                f"{row['ideal']:.3f}",
                f"{row['waited']:.3f}",
                f"{row['imbalance']:.2f}",
            ]
            for row in rows
        ],
        names=1,
    )


def _bubbles(times: PipelineTimes) -> list[float]:
    """Return idle over busy time of all ranks, by step."""
    found = []
    for step in times.steps:
        busy_s = sum(each.end_s - each.begin_s for each in step.computations)
        found.append(len(times.ranks) * step.window_s / busy_s - 1)
    return found


def _run(place: Path, schedule: Schedule, ranks: int, microbatches: int, steps: int) -> Run:
    stages = num_stages(ranks, schedule)
    return launched(
        place,
        _SCRIPT.replace("STEPS", str(steps), 1).replace("LAYERS", str(_LAYERS), 1),
        Distribution(
            pipeline=ranks,
            microbatches=microbatches,
            schedule=schedule,
            pins={str(1 + layer): layer * stages // _LAYERS for layer in range(_LAYERS)},
        ),
        emulation=Emulation(device_step_time_s=_COMPUTED_S * ranks * microbatches),
    )


def launched(
    place: Path,
    script: str,
    distribution: Distribution,
    *,
    emulation: Emulation,
    environment: Mapping[str, str] | None = None,
) -> Run:
    """Return a run in stages that has ended.

    Args:
        place: A folder for it, which is made.
        script: Text of the script.
        distribution: How the model is shared.
        emulation: What is emulated.
        environment: Variables of its processes.

    Raises:
        RunFailedError: It failed, or has not ended in five minutes.
    """
    place.mkdir(parents=True)
    path = place / "staged.py"
    path.write_text(script, encoding="utf-8")
    job = TrainingJob(
        entry_point=str(path),
        cluster=Cluster.parse("here=local:1"),
        distribution=distribution,
        emulation=emulation,
        environment={"OMP_NUM_THREADS": "1", **(environment or {})},
    )
    launcher = LocalLauncher(root=place / "runs")
    return Run(launcher, launcher.start(launcher.plan(job))).wait(timeout_s=_LONGEST_S)
