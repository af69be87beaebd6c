"""How long a trainer waits for its first batch, where its loader is sent to data servers."""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import torch
from torch.utils.data import DataLoader as TorchLoader
from torch.utils.data import Dataset, TensorDataset

from notebooks.benchmarks.dataservice.peers.ours import serve
from notebooks.benchmarks.dataservice.peers.peer import forked_server
from notebooks.benchmarks.harness import fresh
from notebooks.benchmarks.harness.figure import bench_figure
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.recipe.packing import packed
from smtc_lab.dataservice.source import source_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notebooks.benchmarks.dataservice.rounds import Row
    from notebooks.benchmarks.harness.figure import BenchFigure

WAYS = ("torch, small", "small", "1 GB", "1 GB mapped")
"""What is measured: torch's two workers, and two data servers with datasets of three kinds."""

_LARGE_BYTES = 10**9
_SMALL_BYTES = 10**6
_ROW = 1_000
_LIMIT_S = 120.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Sending:
    """What two passes over a loader began with."""

    way: str
    """One of ``WAYS``."""

    first_batch_s: float
    """From ``iter(loader)`` to the first batch of the first pass, in seconds."""

    next_pass_s: float
    """The same of a second pass, over the same dataset."""

    sent_bytes: int
    """What is sent to a data server; 0: nothing is."""

    server_bytes: int
    """Memory of a data server and its processes, shared pages once; 0: there is none."""


def measure_sending(way: str) -> Sending:
    """Return what two passes began with, in this process."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if way.startswith("torch"):
            plain: Any = TorchLoader(_dataset(way, folder), batch_size=16, num_workers=2)
            times_s = [_first_batch_s(plain) for _ in range(2)]
            return Sending(
                way=way,
                first_batch_s=times_s[0],
                next_pass_s=times_s[1],
                sent_bytes=0,
                server_bytes=0,
            )
        secret = secrets.token_bytes(32)
        options = {"secret": secret, "num_data_workers": 2}
        servers = [
            stack.enter_context(forked_server(partial(serve, options))) for _ in range(2)
        ]
        processes = psutil.Process().children()
        loader: DataLoader[Any] = DataLoader(
            _dataset(way, folder),
            batch_size=16,
            num_workers=2,
            servers=servers,
            secret=secret,
            num_local_workers=0,
        )
        stack.callback(loader.close)
        times_s = [_first_batch_s(loader) for _ in range(2)]
        recipe = packed(source_of(loader))
        return Sending(
            way=way,
            first_batch_s=times_s[0],
            next_pass_s=times_s[1],
            sent_bytes=recipe.nbytes,
            server_bytes=max(map(_tree_bytes, processes)),
        )


def sending_rounds(repeats: int) -> Iterator[Row]:
    """Yield what was measured of each way in each round, in processes of their own.

    Raises:
        RunFailedError: A process failed.
    """
    for number in range(repeats):
        for way in WAYS:
            row = fresh.measured(f"sending {way}", "-m", __name__, way, limit_s=_LIMIT_S)
            yield {"round": number, **row}


def sending_figures(rows: Sequence[Row]) -> Iterator[BenchFigure]:
    """Yield how long trainers wait because loaders are sent."""

    def seconds(name: str, way: str, base: str, field: str, goal: float) -> BenchFigure:
        waits = [
            row[field] - other[field]
            for row in rows
            for other in rows
            if (row["way"], other["way"], row["round"]) == (way, base, other["round"])
        ]
        return bench_figure(name, waits, unit="s", better="lower", goal=goal, peer=base)

    yield seconds("first batch, two servers", "small", WAYS[0], "first_batch_s", 0.3)
    yield seconds("first batch of 1 GB in memory", "1 GB", "small", "first_batch_s", 1.5)
    yield seconds("an unchanged pass over it", "1 GB", "small", "next_pass_s", 0.1)
    for name, way, field, goal in (
        ("memory of a server with 1 GB", "1 GB", "server_bytes", 1.5),
        ("sent of a mapped file of 1 GB", "1 GB mapped", "sent_bytes", 0.001),
    ):
        values = [row[field] / 1e9 for row in rows if row["way"] == way]
        yield bench_figure(name, values, unit="GB", better="lower", goal=goal)


class _Mapped(Dataset[torch.Tensor]):
    def __init__(self, path: Path) -> None:
        self.rows = np.memmap(path, dtype=np.uint8, mode="r").reshape(-1, _ROW)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.from_numpy(np.array(self.rows[index]))


def _dataset(way: str, folder: Path) -> Dataset[Any]:
    num_bytes = _LARGE_BYTES if "GB" in way else _SMALL_BYTES
    if "mapped" not in way:
        return TensorDataset(torch.ones(num_bytes // _ROW, _ROW, dtype=torch.uint8))
    path = folder / "rows"
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, num_bytes)
    return _Mapped(path)


def _first_batch_s(loader: Any) -> float:  # noqa: ANN401  torch's or ours
    begin_s = time.perf_counter()
    batches = iter(loader)
    next(batches)
    waited_s = time.perf_counter() - begin_s
    for _ in batches:
        if time.perf_counter() - begin_s > 1.0:
            break
    return waited_s


def _tree_bytes(process: psutil.Process) -> int:
    tree = [process, *process.children(recursive=True)]
    return sum(each.memory_full_info().pss for each in tree)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(measure_sending(sys.argv[1]))) + "\n")
