"""A trainer that is much slower than its data workers: F11."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil
import pytest
import torch

from tests.dataservice.faults.journal_checker import violations
from tests.dataservice.faults.trial import LEAST_CREDITS, Noisy, order_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.dataservice.conftest import RunningServer
    from tests.dataservice.faults.trial import Trial

NUM_SAMPLES = 160
SAMPLE_BYTES = 2**20
MOST_AHEAD = 24
"""Batches that may be asked ahead of two data workers: credits, and some for slow ones."""
SAMPLE_S = 0.01
"""Work for a sample: beside it, a wait for a processor makes no data worker a slow one, for
whose sake more would be asked."""
GROWTH = 1.1
"""Largest memory in the second half of the run over the largest one in the first half."""


class Large(Noisy):
    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        super().__getitem__(index)
        return index, torch.full((SAMPLE_BYTES,), index % 251, dtype=torch.uint8)


@pytest.mark.parametrize("where", ["trainer", "server"])
def test_a_slow_trainer_stops_the_data_workers_with_memory_flat_on_both_sides(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    eventually: Callable[..., None],
    where: str,
) -> None:
    dataset = Large(NUM_SAMPLES, work_s=SAMPLE_S)
    if where == "server":
        server = serve()
        trial = begin(dataset, [server.address])
    else:
        trial = begin(dataset, num_local_workers=2)
    window: set[int] = set()
    sizes: list[list[int]] = []
    order = order_of(dataset)

    def pids() -> list[int]:
        return server.data_worker_pids() if where == "server" else trial.local_pids()

    def rests() -> bool:
        return trial.count("asked") == trial.count("answered")

    for number, (ids, pixels) in enumerate(trial.loader):
        assert ids.tolist() == order[4 * number : 4 * number + 4]
        assert (
            pixels[:, 0].tolist() == pixels[:, -1].tolist() == [i % 251 for i in ids.tolist()]
        )
        eventually(rests)  # the trainer is slower than all that happens
        window.add(trial.count("asked") - trial.count("delivered"))
        eventually(lambda: len(pids()) == 2)  # the first batch may be there before the second
        processes = [psutil.Process(), *map(psutil.Process, pids())]
        sizes.append([process.memory_info().rss for process in processes])

    middle = len(sizes) // 2
    for size_bytes in zip(*sizes, strict=True):
        assert max(size_bytes[middle:]) <= GROWTH * max(size_bytes[:middle])
    assert len(sizes[0]) == 3
    assert max(window) <= MOST_AHEAD
    assert violations(trial.journal, credit_bound=LEAST_CREDITS, samples=order) == []
