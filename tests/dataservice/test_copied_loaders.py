"""Loaders are copied, pickled and forgotten as torch's are, whatever feeds them."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import weakref
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import DataLoader as TorchDataLoader

from smtc_lab.dataservice import placement
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    MakeLoader = Callable[..., DataLoader[Any]]

DATASET: Any = list(range(12))
WHEN = ("before", "while", "after")


class Trainer:
    """Holds a loader, as trainers of many libraries do."""

    def __init__(self, loader: TorchDataLoader[Any]) -> None:
        self.loader = loader
        self.seen: list[int] = []


def saved(trainer: Trainer) -> Trainer:
    stream = io.BytesIO()
    torch.save(trainer, stream)
    stream.seek(0)
    loaded: Trainer = torch.load(stream, weights_only=False)
    return loaded


def iterated(loader: TorchDataLoader[Any], when: str) -> Iterator[Any] | None:
    if when == "before":
        return None
    batches = iter(loader)
    next(batches)
    if when == "after":
        assert len(list(batches)) == 3
    return batches


@pytest.fixture
def default() -> Iterator[list[Any]]:
    """Let records and secret be a job's, and return the records."""
    records: list[Any] = []
    placement.set_default(Placement(secret=bytes(32), seed=0, record=records.append))
    yield records
    placement.set_default(None)


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, saved])
@pytest.mark.parametrize("num_workers", [0, 1])
def test_what_holds_a_loader_is_copied_and_saved(
    default: list[Any], how: Callable[[Any], Any], when: str, num_workers: int
) -> None:
    trainer = Trainer(DataLoader(DATASET, batch_size=3, num_workers=num_workers))
    under_way = iterated(trainer.loader, when)

    copied = how(trainer)

    assert torch.cat(list(copied.loader)).tolist() == DATASET
    assert copied.loader.record == default.append
    if under_way is not None:
        assert len(list(under_way)) == (3 if when == "while" else 0)
    assert len(list(trainer.loader)) == 4


@pytest.mark.parametrize("make", [TorchDataLoader, DataLoader])
def test_a_subclass_that_pickles_its_attributes_is_pickled(make: Any) -> None:
    class Named(make):  # type: ignore[misc]
        def __getstate__(self) -> dict[str, Any]:
            return {**self.__dict__, "name": "copied"}

    loader = Named(DATASET, batch_size=3, num_workers=1)
    list(loader)

    copied = copy.deepcopy(loader)

    assert copied.name == "copied"
    assert copied.dataset == DATASET
    assert copied.dataset is not loader.dataset
    assert len(list(copied)) == 4


def test_a_copy_asks_the_same_servers(place_at: MakeLoader) -> None:
    loader = place_at("server", DATASET, batch_size=3)
    first = [batch.tolist() for batch in loader]

    copied = copy.deepcopy(loader)

    assert copied._client is None
    assert [batch.tolist() for batch in copied] == first
    assert copied._client is not loader._client
    assert copied.servers == loader.servers
    copied.close()


def test_a_pickle_holds_no_secret(place_at: MakeLoader, secret: bytes) -> None:
    loader = place_at("server", DATASET, batch_size=3)
    list(loader)

    pickled = pickle.dumps(loader)

    assert secret not in pickled
    assert pickle.loads(pickled).secret is None  # noqa: S301  our own
    assert len(list(pickle.loads(pickled))) == 4  # noqa: S301  as above


@pytest.mark.parametrize("num_workers", [0, 1])
def test_a_loader_that_nobody_holds_is_gone(default: list[Any], num_workers: int) -> None:
    loader = DataLoader(DATASET, batch_size=3, num_workers=num_workers)
    batches = iter(loader)
    list(batches)
    references = weakref.ref(loader), weakref.ref(batches)

    del loader, batches
    gc.collect()

    assert [reference() for reference in references] == [None, None]
    assert default
