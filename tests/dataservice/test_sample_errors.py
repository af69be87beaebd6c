"""What datasets, transforms and user functions raise, and what the trainer sees of it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import Dataset, get_worker_info

from smtc_lab.errors import DataServiceError, SampleError

if TYPE_CHECKING:
    from collections.abc import Callable

NUM_SAMPLES = 40


class Noisy(Dataset[Any]):
    def __len__(self) -> int:
        return NUM_SAMPLES

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        return index, torch.rand(2)


class Poisoned(Noisy):
    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        if index == 17:
            raise ValueError("this image is broken")
        return super().__getitem__(index)


def test_a_poison_sample_is_named_where_its_batch_would_have_come(
    place: Callable[..., Any],
) -> None:
    loader = place(Poisoned(), batch_size=4)
    batches = iter(loader)
    before = [next(batches)[0].tolist() for _ in range(4)]

    with pytest.raises(SampleError) as raised:
        next(batches)

    after = [batch[0].tolist() for batch in batches]
    assert list(itertools.chain(*before, *after)) == [*range(16), *range(20, 40)]
    message = str(raised.value)
    assert message.startswith("Sample 17 could not be prepared on ")
    assert "ValueError: this image is broken\nTraceback" in message
    assert "in __getitem__" in message
    assert "make_batch" not in message


def test_a_collate_fn_that_raises_is_named_with_the_samples(place: Callable[..., Any]) -> None:
    def collate(samples: list[Any]) -> Any:
        return {}["label"], samples

    loader = place(Noisy(), batch_size=2, collate_fn=collate)

    with pytest.raises(
        SampleError,
        match=r"The batch of samples 0, 1 could not be prepared .*KeyError: 'label'",
    ):
        next(iter(loader))


@pytest.mark.parametrize("where", ["two local", "server"])
def test_a_batch_that_cannot_be_sent_is_named_by_its_type(
    place_at: Callable[..., Any], where: str
) -> None:
    loader = place_at(where, Noisy(), batch_size=2, collate_fn=lambda _: {1, 2})

    with pytest.raises(
        DataServiceError, match=r"builtins\.set, which cannot be sent.*collate_fn"
    ):
        next(iter(loader))


@pytest.mark.parametrize("where", ["two local", "server"])
def test_worker_init_fn_is_called_in_each_data_worker(
    place_at: Callable[..., Any], where: str
) -> None:
    numbers: list[int] = []

    class Telling(Noisy):
        def __getitem__(self, index: int) -> Any:
            info = get_worker_info()
            assert info is not None
            return numbers, info.id, info.num_workers, isinstance(info.dataset, Telling)

    loader = place_at(
        where,
        Telling(),
        batch_size=None,
        collate_fn=lambda sample: sample,
        worker_init_fn=numbers.append,
    )

    assert all(said == ([said[1]], said[1], 2, True) for said in loader)


def test_a_worker_init_fn_that_raises_says_so(place_at: Callable[..., Any]) -> None:
    def fail(number: int) -> None:
        raise RuntimeError(f"no licence for {number}")

    loader = place_at("two local", Noisy(), worker_init_fn=fail)

    with pytest.raises(DataServiceError, match=r"data worker \d\): RuntimeError: no licence"):
        next(iter(loader))
