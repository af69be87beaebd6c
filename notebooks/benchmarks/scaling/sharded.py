"""The bytes that each rank of a model sharded by FSDP2 sends, beside the formula."""

from __future__ import annotations

import json
from statistics import mean
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.harness.rounds import in_turns
from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.metrics.communication.collectives import ring_sent_bytes, sharded_bytes
from smtc_lab.metrics.records.records import ALL_REDUCE
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from notebooks.benchmarks.harness.figure import BenchFigure

Row = dict[str, Any]

BYTES_PERCENT = 5.0

_LAYERS, _WIDTH, _INPUTS = 4, 512, 64
_LONGEST_S = 300.0
_SCRIPT = f"""\
import json, os
from pathlib import Path
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from smtc_lab.machine.socket_traffic import SocketTraffic

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
layers = [nn.Sequential(nn.Linear({_WIDTH}, {_WIDTH}), nn.ReLU()) for _ in range({_LAYERS})]
model = nn.Sequential(nn.Linear({_INPUTS}, {_WIDTH}), *layers, nn.Linear({_WIDTH}, {_INPUTS}))
for layer in layers:
    fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.utils.data.TensorDataset(torch.randn(STEPS * 8, {_INPUTS}))
traffic, sent = SocketTraffic(), []
for (values,) in torch.utils.data.DataLoader(data, batch_size=8):
    told = traffic.look([os.getpid()])
    sent.append(None if told is None else told[1])
    optimizer.zero_grad()
    model(values).square().mean().backward()
    optimizer.step()
Path(os.environ["TOLD"], os.environ["RANK"]).write_text(json.dumps(sent))
"""


def sharded_rounds(
    folder: Path, *, ranks: Sequence[int], steps: int, rounds: int
) -> Iterator[Row]:
    """Yield the bytes that a rank sends in a step: recorded, on its sockets, and by formula.

    Args:
        folder: Where runs are kept.
        ranks: Numbers of trainers.
        steps: Of each run; the first two are left out.
        rounds: How many.
    """
    layers = 4 * _LAYERS * (_WIDTH * _WIDTH + _WIDTH)
    rest = 4 * (2 * _WIDTH * _INPUTS + _WIDTH + _INPUTS)
    for number in range(rounds):
        for each in in_turns(list(ranks), number):
            recorded, on_sockets = _measured(folder / f"sharded-{each}-{number}", each, steps)
            yield {
                "round": number,
                "what": f"FSDP2, {each} trainers",
                "recorded_bytes": recorded,
                "socket_bytes": on_sockets,
                "formula_bytes": sharded_bytes(layers + rest, ranks=each, gathered_once=rest),
                "gloo_extra_bytes": ring_sent_bytes(layers + rest, ranks=each),
            }


def sharded_figures(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield how far what is recorded, and what sockets carry, is from the formula.

    gloo's reduce-scatter sends what an all-reduce does, so its sockets carry the gradients
    twice.
    """
    for what in dict.fromkeys(row["what"] for row in rows):
        for name, how, is_gloo in (
            ("recorded_bytes", "as recorded", False),
            ("socket_bytes", "on its sockets, where gloo averages all to scatter it", True),
        ):
            own = [row for row in rows if row["what"] == what and row[name] is not None]
            distances = [
                row[name] / (row["formula_bytes"] + is_gloo * row["gloo_extra_bytes"]) - 1
                for row in own
            ]
            if distances:
                yield bench_figure(
                    f"{what}: bytes of a rank against the formula, {how}",
                    [100 * abs(each) for each in distances],
                    unit="%",
                    better="lower",
                    goal=BYTES_PERCENT,
                )


def _measured(place: Path, ranks: int, steps: int) -> tuple[float, float | None]:
    """Return the bytes of a step of one rank, a mean: recorded, and on its sockets."""
    told = place / "told"
    told.mkdir(parents=True)
    path = place / "measured.py"
    path.write_text(_SCRIPT.replace("STEPS", str(steps), 1), encoding="utf-8")
    job = TrainingJob(
        entry_point=str(path),
        cluster=Cluster.parse("here=local:1"),
        distribution=Distribution(data=ranks),
        environment={"TOLD": str(told), "OMP_NUM_THREADS": "1"},
    )
    launcher = LocalLauncher(root=place / "runs")
    run = Run(launcher, launcher.start(launcher.plan(job))).wait(timeout_s=_LONGEST_S)
    sent = [json.loads((told / str(rank)).read_text(encoding="utf-8")) for rank in range(ranks)]
    of_steps = [
        sum(
            ring_sent_bytes(
                each.num_bytes,
                ranks=each.ranks or ranks,
                is_averaged=each.collective == ALL_REDUCE,
            )
            for each in buckets
            if each.step >= 2
        )
        / (steps - 2)
        for buckets in run.records().buckets.values()
    ]
    if len(of_steps) != ranks:
        raise RunFailedError(
            f"{len(of_steps)} of {ranks} ranks have recorded what they exchanged. Look at the "
            f"run in {place}."
        )
    if any(None in each for each in sent):
        return mean(of_steps), None
    return mean(of_steps), mean((each[-1] - each[2]) / (steps - 3) for each in sent)
