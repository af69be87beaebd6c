"""A stateful loader goes on where its state was taken, wherever its batches are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import Dataset, IterableDataset

from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.stateful import stateful
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator

Stateful = stateful(DataLoader)


class Noisy(Dataset[Any]):
    def __len__(self) -> int:
        return 20

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        return index, torch.rand(1)


class Counting(IterableDataset[Any]):
    def __iter__(self) -> Iterator[tuple[int, torch.Tensor]]:
        for number in range(20):
            yield number, torch.rand(1)


def said(batches: list[Any]) -> list[Any]:
    return [(indices.tolist(), noise.tolist()) for indices, noise in batches]


def make(kind: str, num_workers: int) -> Any:
    options = {"shuffle": True} if kind == "map" else {}
    dataset = Noisy() if kind == "map" else Counting()
    return Stateful(dataset, batch_size=4, seed=3, num_workers=num_workers, **options)


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("kind", ["map", "stream"])
def test_another_loader_goes_on_where_the_state_was_taken(kind: str, num_workers: int) -> None:
    torch.manual_seed(1)
    loader = make(kind, num_workers)
    list(loader)
    batches = iter(loader)
    for _ in range(2):
        next(batches)
    state = loader.state_dict()
    rest = said(list(batches))
    torch.manual_seed(99)

    other = make(kind, num_workers)
    other.load_state_dict(state)

    assert other.state_dict() == state
    assert said(list(other)) == rest
    assert len(rest) == (3 if kind == "map" or not num_workers else len(rest))
    loader.close()
    other.close()


def test_iterators_of_torch_itself_are_read_up_to_there() -> None:
    def torchs() -> Any:
        return Stateful(Noisy(), batch_size=4, seeding="torch", shuffle=True)

    torch.manual_seed(1)
    loader = torchs()
    batches = iter(loader)
    first = [next(batches)[0].tolist() for _ in range(2)]
    state = loader.state_dict()
    rest = [indices.tolist() for indices, _ in batches]
    torch.manual_seed(99)
    other = torchs()
    other.load_state_dict(state)

    assert [indices.tolist() for indices, _ in other] == rest
    assert sorted(one for batch in first + rest for one in batch) == list(range(20))


def test_the_state_of_a_complete_pass_is_the_begin_of_the_next() -> None:
    loader = make("map", 0)
    list(loader)

    assert {**loader.state_dict(), "random": None} == {"epoch": 1, "batches": 0, "random": None}


def test_a_state_of_another_kind_is_refused() -> None:
    with pytest.raises(DataServiceError, match=r"fields \['_index'\].*begin of an epoch"):
        make("map", 0).load_state_dict({"_index": 1})


def test_it_is_as_generic_as_torchs() -> None:
    class Own(Stateful[int]):  # type: ignore[misc]  # made at run time
        pass

    assert isinstance(Own(Noisy()), DataLoader)


class Unasked:
    """A sampler that raises KeyError for what it lacks."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(20))

    def __len__(self) -> int:
        return 20

    def __getattr__(self, name: str) -> object:
        raise KeyError(name)


def test_a_sampler_that_answers_for_no_attribute_is_left_alone() -> None:
    loader = Stateful(Noisy(), batch_size=4, sampler=Unasked())
    batches = iter(loader)
    next(batches)

    other = Stateful(Noisy(), batch_size=4, sampler=Unasked())
    other.load_state_dict(loader.state_dict())

    assert len(list(other)) == 4
