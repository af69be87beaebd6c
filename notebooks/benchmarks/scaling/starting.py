"""How long trainers take to start, and what a step costs beside torchrun's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from statistics import median
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import bench_figure
from notebooks.benchmarks.harness.rounds import in_turns, ratios
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from notebooks.benchmarks.harness.figure import BenchFigure

Row = dict[str, Any]

OVER_ONE = 1.2
OVER_TORCHRUN = 1.0
STEP_OVERHEAD_PERCENT = 1.0

_LONGEST_S = 300.0
_WITH_TORCH = " with torch"
_BEGINS = """\
import os, time
from pathlib import Path
Path(os.environ["TOLD"], os.environ.get("RANK", "0")).write_text(repr(time.time()))
"""
_STEPS = """\
import json, os, time
from pathlib import Path
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
dist.init_process_group("gloo")
layers = [nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(6)]
model = DistributedDataParallel(nn.Sequential(*layers))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.utils.data.TensorDataset(torch.randn(STEPS * 64, 512))
took = []
begin = time.perf_counter()
for (values,) in torch.utils.data.DataLoader(data, batch_size=64):
    optimizer.zero_grad()
    model(values).square().mean().backward()
    optimizer.step()
    end = time.perf_counter()
    took.append(end - begin)
    begin = end
Path(os.environ["TOLD"], os.environ["RANK"]).write_text(json.dumps(took))
"""


def start_rounds(folder: Path, *, trainers: int, rounds: int) -> Iterator[Row]:
    """Yield the time from the call until the last trainer has begun, in seconds.

    One begins with its script's first statement, and, measured apart, with torch imported.

    Args:
        folder: Where runs are kept.
        trainers: On one instance; compared with one, and with as many of torchrun's.
        rounds: How many.
    """
    ways = {
        f"{way}{suffix}": (ranks, begin + _BEGINS)
        for suffix, begin in (("", ""), (_WITH_TORCH, "import torch\n"))
        for way, ranks in (
            ("1 trainer", 1),
            (f"{trainers} trainers", trainers),
            (f"torchrun, {trainers}", trainers),
        )
    }
    for number in range(rounds):
        for way in in_turns([*ways], number):
            ranks, script = ways[way]
            began_s = time.time()
            told = _run(folder, way, script, ranks, number)
            yield {"round": number, "what": way, "seconds": max(map(float, told)) - began_s}


def step_rounds(folder: Path, *, trainers: int, steps: int, rounds: int) -> Iterator[Row]:
    """Yield the median step time of rank 0 in seconds, of ours and of torchrun's trainers."""
    script = _STEPS.replace("STEPS", str(steps), 1)
    for number in range(rounds):
        for way in in_turns([f"step, {trainers} trainers", "step, torchrun"], number):
            told = _run(folder, way, script, trainers, number)
            seconds = median(json.loads(told[0])[steps // 5 :])
            yield {"round": number, "what": way, "seconds": seconds}


def starting_figures(rows: Sequence[Row], *, trainers: int) -> Iterator[BenchFigure]:
    """Yield ratios within rounds, with their goals."""
    by_way: dict[str, dict[int, float]] = {}
    for row in rows:
        by_way.setdefault(row["what"], {})[row["round"]] = row["seconds"]
    for suffix in ("", _WITH_TORCH):
        started = by_way[f"{trainers} trainers{suffix}"]
        for peer, way, goal in (
            ("one trainer", "1 trainer", OVER_ONE),
            ("torchrun", f"torchrun, {trainers}", OVER_TORCHRUN),
        ):
            yield bench_figure(
                f"start of {trainers} trainers{suffix} on one instance over {peer}'s",
                [*ratios(started, by_way[f"{way}{suffix}"]).values()],
                unit="ratio",
                better="lower",
                goal=goal,
                peer=peer,
            )
    ours = next(way for way in by_way if way.startswith("step, ") and "torchrun" not in way)
    over = ratios(by_way[ours], by_way["step, torchrun"])
    yield bench_figure(
        "overhead of a step",
        [100 * (ratio - 1) for ratio in over.values()],
        unit="%",
        better="lower",
        goal=STEP_OVERHEAD_PERCENT,
        peer="torchrun",
    )


def _run(folder: Path, way: str, script: str, ranks: int, number: int) -> list[str]:
    """Return what each rank of a run wrote, by rank; ended before it is returned."""
    place = folder / f"{way.replace(', ', '-').replace(' ', '-')}-{number}"
    told = place / "told"
    told.mkdir(parents=True)
    path = place / "measured.py"
    path.write_text(script, encoding="utf-8")
    environment = {"TOLD": str(told), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    if "torchrun" in way:
        command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
        subprocess.run(  # noqa: S603  our own command
            [sys.executable, *command, str(ranks), path],
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
            timeout=_LONGEST_S,
        )
    else:
        job = TrainingJob(
            entry_point=str(path),
            cluster=Cluster.parse("here=local:1"),
            distribution=Distribution(data=ranks) if ranks > 1 else None,
            environment=environment,
        )
        launcher = LocalLauncher(root=place / "runs")
        Run(launcher, launcher.start(launcher.plan(job))).wait(timeout_s=_LONGEST_S)
    return [(told / str(rank)).read_text(encoding="utf-8") for rank in range(ranks)]
