"""Measures all-reduce and steps of DDP through token buckets, beside what is predicted of them.

Each rank lives in a network namespace of its own. What is compared are the least times, since
other work of the machine only adds; the medians stand beside them. Needs root.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from notebooks.benchmarks.scaling.namespaces import entered, nodes
from smtc_lab.planner.calibration.link import all_reduce_times
from smtc_lab.planner.model.all_reduce import RingLink, ring_s
from smtc_lab.planner.model.buckets import Gradients, buckets_of, exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from notebooks.benchmarks.scaling.namespaces import Node
    from smtc_lab.planner.model.setup import Numbers

MB = 1_000_000
CALIBRATED = (2**16, 2**24)
ASKED = (1 * MB, 8 * MB, 16 * MB)
LAYERS, LAYER_BYTES, LAYER_S = 8, 4 * 2**20, 0.025
STEPS = 12
_ROOT = str(Path(__file__).parents[3])
_INTERFACE, _LIMIT_S = "eth0", 240.0


def calibrated(mbit: int) -> RingLink:
    """Return latency and time for a byte, from two processes at two sizes."""
    with nodes(2, mbit_per_s=mbit, is_sent_only=True) as made:
        small_s, large_s = map(min, _all_reduces(made, CALIBRATED).values())
    small, large = CALIBRATED
    beta_s = (large_s - small_s) / (large - small)
    return RingLink(max(0.0, small_s - small * beta_s) / 2, beta_s)


def predicted_rounds(
    *, all_reduce_mbit: Sequence[int], step_mbit: int, rounds: int
) -> Iterator[dict[str, Any]]:
    """Yield what all-reduces and steps take, beside what two ranks predict of them.

    Args:
        all_reduce_mbit: Rates at which four ranks add up gradients.
        step_mbit: Rate of the steps of two ranks.
        rounds: How many.
    """
    for number in range(rounds):
        for mbit in all_reduce_mbit:
            for nbytes, row in all_reduces(mbit, calibrated(mbit)):
                what = f"all-reduce of 4 ranks, {nbytes // MB} MB at {mbit} Mbit/s"
                yield {"round": number, "what": what, **row}
        for what, row in steps(step_mbit, calibrated(step_mbit)):
            yield {"round": number, "what": f"step of 2 ranks, {what}", **row}


def all_reduces(mbit: int, link: RingLink) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield what all-reduces of four ranks take, beside what two ranks predict."""
    with nodes(4, mbit_per_s=mbit, is_sent_only=True) as made:
        for nbytes, times in _all_reduces(made, ASKED).items():
            yield nbytes, _beside(times, float(ring_s(nbytes, 4, link)))


def steps(mbit: int, link: RingLink) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what steps of DDP take with a backward pass asleep, beside what is predicted.

    The last ones are those of the advice: buckets of an eighth, and half the bytes where the
    exchange takes longer than the backward pass. They say what share of it is hidden.
    """
    alone_s = min(_steps(1, mbit, 0.0))
    backward_s = np.array(LAYERS * LAYER_S)
    ready = tuple(float(each) for each in np.arange(1, LAYERS + 1) / LAYERS)
    gradients = Gradients((float(LAYER_BYTES),) * LAYERS, ready, is_estimated=False)
    for what, cap_mb, width in (
        ("torch's buckets", 0.0, 1.0),
        ("buckets of 4 MiB", 4.0, 1.0),
        ("as advised", 4.0, 0.5),
    ):
        limits = {"limits": (cap_mb * 2**20,)} if cap_mb else {}
        found = exchange(
            buckets_of(gradients, **limits),
            backward_s,
            functools.partial(_ring_of_two, link, width),
        )
        times = _steps(2, mbit, cap_mb, is_half=width < 1)
        row = _beside(times, alone_s + float(found.exposed_s))
        row["hidden"] = 1 - (row["seconds"] - alone_s) / float(found.all_reduce_s)
        yield what, row


def _ring_of_two(link: RingLink, width: float, nbytes: Numbers) -> NDArray[np.float64]:
    return ring_s(nbytes * width, 2, link)


def _all_reduces(made: Sequence[Node], sizes: Sequence[int]) -> dict[int, list[float]]:
    return dict(
        all_reduce_times(
            entered(made), interface=_INTERFACE, sizes=sizes, seconds=3.0, limit_s=_LIMIT_S
        )
    )


def _steps(ranks: int, mbit: int, cap_mb: float, *, is_half: bool = False) -> list[float]:
    """Return the seconds of steps; one rank has no DDP."""
    with (
        nodes(ranks, mbit_per_s=mbit, is_sent_only=True) as made,
        tempfile.TemporaryDirectory() as folder,
    ):
        told = [str(cap_mb), "half" if is_half else "whole"]
        command = [sys.executable, "-m", __name__, "--rank"]
        own = [
            subprocess.Popen(  # noqa: S603  this program
                [*prefix, *command, str(rank), str(ranks), f"{folder}/store", *told],
                stdout=subprocess.PIPE,
                env={
                    **os.environ,
                    "PYTHONPATH": _ROOT,
                    "GLOO_SOCKET_IFNAME": _INTERFACE,
                    "OMP_NUM_THREADS": "1",
                },
            )
            for rank, prefix in enumerate(entered(made))
        ]
        try:
            said = [each.communicate(timeout=_LIMIT_S)[0] for each in own]
        finally:
            for each in own:
                each.kill()
    times: list[float] = json.loads(said[0])
    return times


def one_rank(rank: int, ranks: int, store: str, cap_mb: float, *, is_half: bool) -> None:
    """Train with layers whose backward pass sleeps, and print what each step took."""
    import torch  # noqa: PLC0415  in the processes of a measurement only
    from torch.distributed.algorithms.ddp_comm_hooks import (  # noqa: PLC0415  as above
        default_hooks,
    )
    from torch.nn.parallel import DistributedDataParallel  # noqa: PLC0415  as above

    class Asleep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, values, weight):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN205, ARG004  torch's own
            return values + weight[0] * 0

        @staticmethod
        def backward(ctx, gradient):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN205, ARG004  torch's own
            time.sleep(LAYER_S)
            return gradient, torch.ones(LAYER_BYTES // 4)

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(LAYER_BYTES // 4))

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            apply: Callable[..., torch.Tensor] = Asleep.apply  # untyped in some versions
            return apply(values, self.weight)

    torch.set_num_threads(1)
    model: torch.nn.Module = torch.nn.Sequential(*(Layer() for _ in range(LAYERS)))
    if ranks > 1:
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{store}", rank=rank, world_size=ranks
        )
        wrapped = DistributedDataParallel(model, bucket_cap_mb=cap_mb or None)
        if is_half:
            wrapped.register_comm_hook(None, default_hooks.fp16_compress_hook)
        model = wrapped
    values, times = torch.ones(1, requires_grad=True), []
    for _ in range(STEPS):
        begin_s = time.perf_counter()
        model.zero_grad()
        model(values).sum().backward()
        times.append(time.perf_counter() - begin_s)
    if rank == 0:
        sys.stdout.write(json.dumps(times[3:]))


def _beside(times: Sequence[float], predicted_s: float) -> dict[str, float]:
    """Return the least time and the median beside what was predicted."""
    return {
        "seconds": min(times),
        "median_s": statistics.median(times),
        "wanted_s": predicted_s,
    }


if __name__ == "__main__":
    _rank, _ranks, _store, _cap, _half = sys.argv[2:]
    one_rank(int(_rank), int(_ranks), str(Path(_store)), float(_cap), is_half=_half == "half")
