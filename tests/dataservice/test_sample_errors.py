"""What datasets, transforms and user functions raise, and what the trainer sees of it."""

from __future__ import annotations

import itertools
import pickle
import threading
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from smtc_lab.errors import DataServiceError, SampleError
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
    loader = place_at(where, Noisy(), batch_size=2, collate_fn=lambda _: threading.Lock())

    with pytest.raises(
        DataServiceError, match=r"_thread\.lock, which cannot be sent.*collate_fn"
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
        num_workers=2,
        collate_fn=lambda sample: sample,
        worker_init_fn=numbers.append,
    )

    assert all(said == ([said[1]], said[1], 2, True) for said in loader)


class RottenError(OSError):
    """The script's own, with values of its own."""

    def __init__(self, path: str, *, code: int) -> None:
        super().__init__(code, "rotten", path)


class Rotten(Noisy):
    def __getitem__(self, index: int) -> Any:
        raise {0: RottenError("a.png", code=5), 1: KeyError("label")}.get(
            index, StopIteration()
        )


def test_what_a_dataset_raises_is_caught_by_its_own_class_too(
    place: Callable[..., Any],
) -> None:
    batches = iter(place(Rotten(), batch_size=1))

    with pytest.raises(RottenError, match=r"^Sample 0 could not be prepared") as own:
        next(batches)
    with pytest.raises(KeyError, match=r"^Sample 1 could not be prepared") as builtin:
        next(batches)
    with pytest.raises(SampleError, match=r"^Sample 2 could not be prepared"):
        next(batches)

    assert isinstance(own.value, SampleError)
    assert isinstance(builtin.value, SampleError)
    assert str(pickle.loads(pickle.dumps(own.value))) == str(own.value)  # noqa: S301  our own


class Seeds(Dataset[Any]):
    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> int:
        return torch.initial_seed()


@pytest.mark.parametrize("where", ["in the trainer", "two local", "server"])
def test_seeds_of_samples_fit_into_a_tensor(place_at: Callable[..., Any], where: str) -> None:
    seeds = torch.cat(list(place_at(where, Seeds(), batch_size=16)))

    assert len(seeds.unique()) == 64
    assert seeds.min() >= 0


@pytest.mark.parametrize("style", ["map", "stream"])
def test_worker_init_fn_sees_the_seed_that_the_data_worker_is_told_of(
    place_at: Callable[..., Any], style: str, tmp_path: Path
) -> None:
    said: list[tuple[int, int, int]] = []

    def note(number: int) -> None:
        said.append((number, get_worker_info().seed, torch.initial_seed()))
        (tmp_path / str(number)).touch()

    class Telling(Noisy):
        def __getitem__(self, index: int) -> Any:
            # one that is quick would prepare all of them
            wait_until(lambda: len(list(tmp_path.iterdir())) == 2, what="both data workers")
            return said

    class Streams(IterableDataset[Any]):
        def __iter__(self) -> Any:
            return iter([said])

    loader = place_at(
        "two local",
        Telling() if style == "map" else Streams(),
        batch_size=None,
        num_workers=2,
        collate_fn=lambda sample: sample,
        worker_init_fn=note,
    )

    seeds = {number: (told, seen) for sample in loader for number, told, seen in sample}

    assert set(seeds) == {0, 1}
    assert all(told == seen for told, seen in seeds.values())
    assert seeds[1][0] - seeds[0][0] == 1


class Own:
    def __init__(self, value: int) -> None:
        self.value = value


def test_the_trainers_own_data_workers_send_what_can_be_pickled(
    place_at: Callable[..., Any],
) -> None:
    loader = place_at("two local", Noisy(), batch_size=4, collate_fn=lambda it: Own(len(it)))

    assert [batch.value for batch in loader] == [4] * 10


def test_data_servers_do_so_where_that_is_allowed(place_at: Callable[..., Any]) -> None:
    loader = place_at("server", Noisy(), batch_size=4, collate_fn=lambda it: Own(len(it)))
    with pytest.raises(DataServiceError, match=r"Own, which cannot be sent.*allow_pickle=True"):
        next(iter(loader))

    loader.close()
    loader.allow_pickle = True

    assert [batch.value for batch in loader] == [4] * 10


def test_a_worker_init_fn_that_raises_says_so(place_at: Callable[..., Any]) -> None:
    def fail(number: int) -> None:
        raise RuntimeError(f"no licence for {number}")

    loader = place_at("two local", Noisy(), worker_init_fn=fail)

    with pytest.raises(RuntimeError, match=r"data worker \d\): RuntimeError: no licence") as it:
        next(iter(loader))
    assert isinstance(it.value, SampleError)
