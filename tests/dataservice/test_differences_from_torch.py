"""What the guide's page ``dataloader.md`` says of torch's dataloader and of ours, of both."""

from __future__ import annotations

import os
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import DataLoader as TorchDataLoader
from torch.utils.data import Dataset

from smtc_lab.dataservice.dataloader import DataLoader

if TYPE_CHECKING:
    from pathlib import Path

BOTH = [TorchDataLoader, DataLoader]


def each(name: str, torchs: object, ours: object) -> pytest.MarkDecorator:
    """Give a test both dataloaders, and what it should find with each."""
    values = zip(BOTH, [torchs, ours], strict=True)
    return pytest.mark.parametrize(("kind", name), [*values], ids=["torch", "ours"])


class Telling(Dataset[Any]):
    """Samples that tell of the process that makes them."""

    def __init__(self, finalized: Path | None = None) -> None:
        self.finalized = finalized

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[int, int, torch.Tensor]:
        if self.finalized is not None:
            Finalize(None, self.finalized.touch, exitpriority=1)
        return index, os.nice(0), torch.rand(1)


def test_batches_are_those_of_torch_and_their_noise_is_not() -> None:
    theirs, ours = (list(one(Telling(), 4, num_workers=1)) for one in BOTH)

    assert [batch[0].tolist() for batch in ours] == [batch[0].tolist() for batch in theirs]
    assert [batch[2].tolist() for batch in ours] != [batch[2].tolist() for batch in theirs]


@each("draws", True, False)
def test_only_torchs_transforms_draw_from_the_trainers_generator(
    kind: Any, *, draws: bool
) -> None:
    def next_number(dataset: Any) -> float:
        torch.manual_seed(3)
        list(kind(dataset, 4))
        return torch.rand(1).item()

    assert (next_number(Telling()) != next_number([0] * 8)) is draws


@each("niceness", 0, 10)
def test_our_data_workers_step_back_for_the_trainer(kind: Any, niceness: int) -> None:
    batches = list(kind(Telling(), 4, num_workers=1))

    assert {nice for batch in batches for nice in batch[1].tolist()} == {
        min(19, os.nice(0) + niceness)
    }


@each("is_shared", True, False)
def test_only_torchs_batches_lie_in_memory_for_any_process(
    kind: Any, *, is_shared: bool
) -> None:
    batch = next(iter(kind(Telling(), 4, num_workers=1)))

    assert batch[2].is_shared() is is_shared


@each("are_run", True, False)
def test_only_torchs_data_workers_run_finalizers(
    kind: Any, tmp_path: Path, *, are_run: bool
) -> None:
    finalized = tmp_path / "finalized"
    loader = kind(Telling(finalized), 4, num_workers=1)

    list(loader)
    if kind is DataLoader:
        loader.close()

    assert finalized.exists() is are_run


@each("has_them", True, False)
def test_only_torchs_iterators_have_its_private_parts(kind: Any, *, has_them: bool) -> None:
    batches = iter(kind(Telling(), 4, num_workers=1))

    for name in ("_workers", "_index_queues", "_shutdown_workers"):
        assert hasattr(batches, name) is has_them
