"""Iterable-style datasets give torch's own batches, wherever they are iterated."""

from __future__ import annotations

import os
import random
import signal
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import DataLoader as TorchDataLoader
from torch.utils.data import IterableDataset, get_worker_info

from smtc_lab.dataservice.dataloader import DataLoader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Of torch's dataloaders: more workers than cores.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Uneven(IterableDataset[Any]):
    """Three streams of unequal lengths; the whole of them for one."""

    def __iter__(self) -> Iterator[tuple[int, int]]:
        info = get_worker_info()
        numbers = range(3) if info is None else range(info.id, 3, info.num_workers)
        return ((number, sample) for number in numbers for sample in range((7, 0, 12)[number]))


class Noisy(IterableDataset[Any]):
    """Samples with random parts."""

    def __iter__(self) -> Iterator[tuple[int, float, torch.Tensor]]:
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for sample in range(first, 60, step):
            yield sample, random.random(), torch.rand(2)  # noqa: S311  no secret


def plain(batches: Any) -> list[Any]:
    return [
        [part.tolist() if hasattr(part, "tolist") else part for part in one] for one in batches
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 4, "num_workers": 3},
        {"batch_size": 4, "num_workers": 2, "drop_last": True},
        {"batch_size": 5},
        {"batch_size": None, "num_workers": 3},
    ],
    ids=["uneven streams", "drop_last", "one stream", "no batches"],
)
def test_streams_come_as_from_torch(place: Callable[..., Any], options: dict[str, Any]) -> None:
    theirs = plain(TorchDataLoader(Uneven(), **options))
    loader = place(Uneven(), **options)

    assert plain(loader) == theirs
    assert plain(loader) == theirs


def test_random_numbers_are_the_same_at_every_placement(place: Callable[..., Any]) -> None:
    reference = DataLoader(Noisy(), batch_size=4, num_workers=2, num_local_workers=0, seed=3)
    loader = place(Noisy(), batch_size=4, num_workers=2)
    loader.seed = 3

    for _ in range(2):
        assert plain(loader) == plain(reference)


def test_without_order_each_sample_comes_once(place: Callable[..., Any]) -> None:
    loader = place(Noisy(), batch_size=4, num_workers=3, in_order=False)

    assert sorted(sample for batch in loader for sample in batch[0].tolist()) == list(range(60))


def test_an_epoch_may_be_left_early(place: Callable[..., Any]) -> None:
    loader = place(Uneven(), batch_size=1, num_workers=3)
    next(iter(loader))

    assert len(plain(loader)) == 19


@pytest.mark.parametrize("at", [2, 5])
def test_a_stream_goes_on_elsewhere_bit_for_bit(
    serve: Callable[..., Any], secret: bytes, at: int
) -> None:
    options: dict[str, Any] = {"batch_size": 2, "num_workers": 2}
    reference = plain(DataLoader(Noisy(), **options, num_local_workers=0, seed=1))
    server = serve()
    events: list[str] = []
    loader = DataLoader(
        Noisy(),
        **options,
        servers=[server.address],
        secret=secret,
        num_local_workers=0,
        seed=1,
        notify=events.append,
    )
    batches = iter(loader)
    got = plain(next(batches) for _ in range(at))
    os.kill(server.data_worker_pids()[0], signal.SIGKILL)

    got += plain(batches)

    assert got == reference
    loader.close()


def test_an_iterable_dataset_that_raises_names_the_sample_and_the_stream(
    place: Callable[..., Any],
) -> None:
    class Faulty(IterableDataset[Any]):
        def __iter__(self) -> Iterator[int]:
            yield 1
            raise ValueError("broken")

    loader = place(Faulty(), batch_size=1, num_workers=1)
    batches = iter(loader)
    assert next(batches).tolist() == [1]

    with pytest.raises(Exception, match=r"Sample 1 of stream 0 could not be prepared.*broken"):
        next(batches)

    assert list(batches) == []
