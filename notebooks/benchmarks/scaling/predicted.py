"""Measures all-reduce and steps of DDP through token buckets, beside what is predicted of them.

Each rank lives in a network namespace of its own, all on one bridge, and what it sends passes
``tc tbf``. The burst must hold a segment that the kernel sends at once, or all stalls; and it
costs no time, so that it must be small beside what is sent. Hence small segments. What is
compared are the least times, since other work of the machine only adds; the medians stand
beside them. Needs root.

    python -m notebooks.benchmarks.scaling.predicted
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.planner.calibration.link import all_reduce_times
from smtc_lab.planner.model.all_reduce import RingLink, ring_s
from smtc_lab.planner.model.buckets import Gradients, buckets_of, exchange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MB = 1_000_000
CALIBRATED = (2**16, 2**24)
ASKED = (1 * MB, 8 * MB, 16 * MB)
LAYERS, LAYER_BYTES, LAYER_S = 8, 4 * 2**20, 0.025
STEPS = 12
_INTERFACE, _LIMIT_S = "eth0", 240.0


@contextlib.contextmanager
def namespaces(count: int, mbit: int) -> Iterator[list[list[str]]]:
    """Make network namespaces that send so many Mbit/s, and give what enters each."""
    bridge, names = f"smtcb{os.getpid()}"[:14], [f"smtc{os.getpid()}n{n}" for n in range(count)]
    try:
        _ip("link", "add", bridge, "type", "bridge")
        _ip("link", "set", bridge, "up")
        for number, name in enumerate(names):
            _ip("netns", "add", name)
            outer = f"smtcv{os.getpid()}{number}"[:15]
            peer = ("peer", "name", _INTERFACE, "netns", name)
            _ip("link", "add", outer, "type", "veth", *peer)
            _ip("link", "set", outer, "master", bridge, "up")
            _ip("-n", name, "addr", "add", f"10.77.0.{number + 1}/24", "dev", _INTERFACE)
            for device in ("lo", _INTERFACE):
                _ip("-n", name, "link", "set", device, "up")
            burst = "512kb" if mbit > 500 else "32kb"
            if mbit <= 500:
                _ip("-n", name, "link", "set", _INTERFACE, "gso_max_size", "16384")
            shaper = f"root tbf rate {mbit}mbit burst {burst} latency 4s"
            _run("tc", "-n", name, "qdisc", "add", "dev", _INTERFACE, *shaper.split())
        yield [["ip", "netns", "exec", name] for name in names]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)  # noqa: S603, S607  ours
        subprocess.run(["ip", "link", "del", bridge], check=False, capture_output=True)  # noqa: S603, S607  ours


def calibrated(mbit: int) -> RingLink:
    """Return latency and time for a byte, from two processes at two sizes."""
    with namespaces(2, mbit) as inside:
        small_s, large_s = map(min, _all_reduces(inside, CALIBRATED).values())
    small, large = CALIBRATED
    beta_s = (large_s - small_s) / (large - small)
    return RingLink(max(0.0, small_s - small * beta_s) / 2, beta_s)


def all_reduces(mbit: int, link: RingLink) -> None:
    """Print what all-reduces of four ranks take, beside what two ranks predict."""
    with namespaces(4, mbit) as inside:
        for nbytes, times in _all_reduces(inside, ASKED).items():
            predicted_s = float(ring_s(nbytes, 4, link))
            _say(times, predicted_s, mbit=mbit, mb=nbytes / MB)


def steps(mbit: int, link: RingLink) -> None:
    """Print what steps of DDP take with a backward pass asleep, beside what is predicted."""
    alone_s = min(_steps(1, mbit, 0.0))
    for cap_mb in (0.0, 4.0):
        sizes = (float(LAYER_BYTES),) * LAYERS
        ready = tuple(float(each) for each in np.arange(1, LAYERS + 1) / LAYERS)
        limits = {"limits": (cap_mb * 2**20,)} if cap_mb else {}
        made = buckets_of(Gradients(sizes, ready, is_estimated=False), **limits)
        backward_s = np.array(LAYERS * LAYER_S)
        waits_s = exchange(made, backward_s, lambda nbytes: ring_s(nbytes, 2, link)).exposed_s
        times = _steps(2, mbit, cap_mb)
        _say(times, alone_s + float(waits_s), mbit=mbit, cap_mb=cap_mb)


def _all_reduces(inside: list[list[str]], sizes: Sequence[int]) -> dict[int, list[float]]:
    return dict(
        all_reduce_times(
            inside, interface=_INTERFACE, sizes=sizes, seconds=3.0, limit_s=_LIMIT_S
        )
    )


def _steps(ranks: int, mbit: int, cap_mb: float) -> list[float]:
    """Return the seconds of steps; one rank has no DDP."""
    with namespaces(ranks, mbit) as inside, tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", __spec__.name, "--rank"]
        own = [
            subprocess.Popen(  # noqa: S603  this program
                [*prefix, *command, str(rank), str(ranks), f"{folder}/store", str(cap_mb)],
                stdout=subprocess.PIPE,
                env={**os.environ, "GLOO_SOCKET_IFNAME": _INTERFACE, "OMP_NUM_THREADS": "1"},
            )
            for rank, prefix in enumerate(inside)
        ]
        try:
            said = [each.communicate(timeout=_LIMIT_S)[0] for each in own]
        finally:
            for each in own:
                each.kill()
    times: list[float] = json.loads(said[0])
    return times


def one_rank(rank: int, ranks: int, store: str, cap_mb: float) -> None:
    """Train with layers whose backward pass sleeps, and print what each step took."""
    import torch  # noqa: PLC0415  in the processes of a measurement only
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
            return Asleep.apply(values, self.weight)  # type: ignore[no-any-return]

    torch.set_num_threads(1)
    model: torch.nn.Module = torch.nn.Sequential(*(Layer() for _ in range(LAYERS)))
    if ranks > 1:
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{store}", rank=rank, world_size=ranks
        )
        model = DistributedDataParallel(model, bucket_cap_mb=cap_mb or None)
    values, times = torch.ones(1, requires_grad=True), []
    for _ in range(STEPS):
        begin_s = time.perf_counter()
        model.zero_grad()
        model(values).sum().backward()
        times.append(time.perf_counter() - begin_s)
    if rank == 0:
        sys.stdout.write(json.dumps(times[3:]))


def _say(times: Sequence[float], predicted_s: float, **of: float) -> None:
    told = {**of, "predicted_s": predicted_s, "least_s": min(times)}
    told |= {"median_s": statistics.median(times), "error": predicted_s / min(times) - 1}
    sys.stdout.write(json.dumps({name: round(value, 4) for name, value in told.items()}) + "\n")
    sys.stdout.flush()


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _run(*command: str) -> None:
    subprocess.run(command, check=True)  # noqa: S603  ours


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        _rank, _ranks, _store, _cap = sys.argv[2:]
        one_rank(int(_rank), int(_ranks), str(Path(_store)), float(_cap))
    else:
        for _mbit in (200, 50):
            all_reduces(_mbit, calibrated(_mbit))
        steps(1000, calibrated(1000))
