"""The step of a pipeline as it was planned, beside that of a launched one.

``python -m notebooks.benchmarks.parallel.predicted '<set-up as JSON>'`` plans one and prints
what it says of a step, in seconds.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import torch

from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.harness.fresh import measured
from notebooks.benchmarks.harness.rounds import in_turns
from notebooks.benchmarks.parallel.bubbles import launched
from notebooks.benchmarks.parallel.models import NETWORKS
from smtc_lab.errors import RunFailedError
from smtc_lab.parallel.pipeline.planning.preview import plan_pipeline
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import Emulation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notebooks.benchmarks.harness.figure import BenchFigure

Row = dict[str, Any]

OFF_PERCENT = 8.0
MICROBATCHES = 4


@dataclass(frozen=True)
class Planned:
    """A network in stages, on emulated devices or on this machine."""

    network: str
    ranks: int
    device_step_s: float | None
    """Declared time of the whole model on one device; None: this machine's own."""

    copies: int = 1
    """Copies of the network's own batch in one batch."""

    @property
    def what(self) -> str:
        """Return how it is called."""
        how = "this machine" if self.device_step_s is None else "emulated"
        return f"{self.network}, {self.ranks} ranks, {how}"


SET_UPS = (
    *(
        Planned(network, ranks, 2.4)
        for network in ("9 convolutional blocks", "language model of 8 layers")
        for ranks in (2, 4)
    ),
    Planned("12 perceptrons", 2, 1.2),
    Planned("9 convolutional blocks", 2, None, copies=16),
    Planned("language model of 8 layers", 2, None, copies=4),
)

_SCRIPT = """\
import json, os
import torch
import smtc_lab
from notebooks.benchmarks.parallel.predicted import Planned, batch_of

torch.set_num_threads(1)
set_up = Planned(**json.loads(os.environ["PLANNED"]))
session = smtc_lab.Session()
model, inputs, targets, loss = batch_of(set_up)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
model, optimizer = session.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(
    torch.cat([inputs] * STEPS), torch.cat([targets] * STEPS)
)
for values, targets in session.steps(
    session.dataloader(data, batch_size=len(inputs), num_workers=0)
):
    optimizer.zero_grad()
    session.step(values, targets, loss)
    optimizer.step()
"""


def batch_of(set_up: Planned) -> tuple[torch.nn.Module, torch.Tensor, torch.Tensor, Any]:
    """Return the network of a set-up, a batch, and the loss."""
    torch.manual_seed(0)
    model, inputs, targets, loss = NETWORKS[set_up.network]()
    copies = set_up.copies
    return model, torch.cat([inputs] * copies), torch.cat([targets] * copies), loss


def planned_s(set_up: Planned) -> float:
    """Return what the plan says of a step, in seconds.

    Of a machine that is not emulated, modules are measured first.
    """
    device_s = set_up.device_step_s
    return plan_pipeline(
        *batch_of(set_up),
        pipeline=set_up.ranks,
        microbatches=MICROBATCHES,
        measure=device_s is None,
        device_step_s=device_s or 1.0,
    ).step.step_s


def step_rounds(
    folder: Path, *, set_ups: Sequence[Planned] = SET_UPS, steps: int = 5, rounds: int = 1
) -> Iterator[Row]:
    """Yield the step that was planned, and the median one of a launch.

    Args:
        folder: Where runs are kept.
        set_ups: What is planned and launched.
        steps: Of each run; the first is left out.
        rounds: How many.

    Raises:
        RunFailedError: No step was timed.
    """
    for number in range(rounds):
        for place, set_up in enumerate(in_turns(list(set_ups), number)):
            told = json.dumps(asdict(set_up))
            said = measured("a plan", "-m", __spec__.name, told, limit_s=300)
            run = launched(
                folder / f"{number}-{place}",
                _SCRIPT.replace("STEPS", str(steps)),
                Distribution(pipeline=set_up.ranks, microbatches=MICROBATCHES),
                emulation=Emulation(device_step_time_s=set_up.device_step_s),
                environment={"PLANNED": told, "PYTHONPATH": str(Path(__file__).parents[3])},
            )
            times = run.pipeline
            if times is None or not times.steps:
                raise RunFailedError(f"No step of {set_up.what} was timed. Look into {folder}.")
            yield {
                "what": f"step of {set_up.what}",
                "round": number,
                "planned_s": said["step_s"],
                "measured_s": median(step.window_s for step in times.steps),
            }


def step_figures(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield how far each planned step is from the measured one, in percent."""
    for what in dict.fromkeys(row["what"] for row in rows):
        yield bench_figure(
            f"distance of the planned {what}",
            [
                100 * abs(row["planned_s"] / row["measured_s"] - 1)
                for row in rows
                if row["what"] == what
            ],
            unit="%",
            better="lower",
            goal=OFF_PERCENT,
            peer="measured",
        )


if __name__ == "__main__":
    torch.set_num_threads(1)  # as in the launched script
    print(json.dumps({"step_s": planned_s(Planned(**json.loads(sys.argv[1])))}))  # noqa: T201
