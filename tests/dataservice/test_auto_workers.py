"""``num_workers="auto"`` starts and ends data workers while a loader runs."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest
import torch

from smtc_lab.dataservice import dataloader
from smtc_lab.dataservice.client import auto_workers
from smtc_lab.dataservice.client.auto_workers import AutoWorkers
from smtc_lab.dataservice.dataloader import DataLoader

if TYPE_CHECKING:
    from collections.abc import Callable


# Of torch's dataloader: more data workers than cores.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Numbers(torch.utils.data.Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> torch.Tensor:
        return index + torch.rand(2)


def test_auto_begins_with_what_the_trainer_leaves_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataloader, "own_cores", lambda: 4.0)

    loader = DataLoader(Numbers(), num_workers="auto")

    assert (loader.num_workers, loader.num_local_workers) == (3, 3)


def test_a_number_that_is_given_is_kept() -> None:
    loader = DataLoader(Numbers(), num_workers="auto", num_local_workers=1)

    assert loader.num_local_workers == 1


def test_batches_are_the_same_while_data_workers_come_and_go(
    monkeypatch: pytest.MonkeyPatch, is_gone: Callable[[int], bool]
) -> None:
    numbers = iter([2, 3, 1, 2] * 8)
    monkeypatch.setattr(AutoWorkers, "is_due", lambda _: True)
    monkeypatch.setattr(AutoWorkers, "settle", lambda *_: next(numbers, 2))
    reference = [batch.tolist() for batch in DataLoader(Numbers(), batch_size=4, seed=1)]
    loader = DataLoader(Numbers(), batch_size=4, num_workers="auto", seed=1)
    pids: set[int] = set()

    got: list[Any] = []
    for batch in loader:
        got.append(batch.tolist())
        pids.update(loader._client.local_pids if loader._client else ())

    assert got == reference
    assert len(pids) > 3
    loader.close()
    assert all(map(is_gone, pids))


def test_what_was_counted_is_settled_after_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(auto_workers.time, "monotonic", lambda: now_s)
    auto = AutoWorkers(1)
    assert not auto.has_begun

    assert auto.settle([os.getpid()], 0) == 1
    assert auto.has_begun
    assert not auto.is_due()
    now_s += auto_workers.INTERVAL_S
    auto.note_wait(0.9)
    auto.note_batch(0.9)

    assert auto.is_due()
    assert auto.settle([], 0) >= 1
    assert time.monotonic() == now_s
