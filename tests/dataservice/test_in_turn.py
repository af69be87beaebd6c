"""Loaders with ``num_workers=0`` on data servers: right while the dataset is what it was."""

from __future__ import annotations

import copy
import os
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import Dataset, IterableDataset, Sampler

from smtc_lab.dataservice import placement
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.iterating import in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NUM_SAMPLES = 40


class Numbers(Dataset[Any]):
    """Tells of each sample which process made it, and what its scale was."""

    def __init__(self) -> None:
        self.scale = 1

    def __len__(self) -> int:
        return NUM_SAMPLES

    def __getitem__(self, index: int) -> tuple[int, int]:
        return index * self.scale, os.getpid()


class Remembering(Numbers):
    """Keeps what it has made."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[int, int] = {}

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.cache[index] = len(self.cache)
        return self.cache[index], os.getpid()


class Caching(Numbers):
    """Keeps each sample that it has read, in one of several ways, and looks at what it has."""

    def __init__(self, cache: Any) -> None:
        super().__init__()
        self.cache = cache

    def __getitem__(self, index: int) -> tuple[int, int]:
        if isinstance(self.cache, list):
            self.cache[index] = index
            return sum(each is not None for each in self.cache), os.getpid()
        if isinstance(self.cache, set):
            self.cache.add(index)
            return len(self.cache), os.getpid()
        before = len(self.cache)
        self.cache[index] = index
        if len(self.cache) > 6:
            self.cache.pop(next(iter(self.cache)))
        return before, os.getpid()


class Once(Numbers):
    """Makes something else of its very first sample."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = False

    def __getitem__(self, index: int) -> tuple[int, int]:
        was, self.is_read = self.is_read, True
        return index if was else -1, os.getpid()


class SettingUp(Numbers):
    """Sets itself up with the first sample, as tokenizers and readers do."""

    def __init__(self) -> None:
        super().__init__()
        self.offset: int | None = None

    def __getitem__(self, index: int) -> tuple[int, int]:
        if self.offset is None:
            self.offset = 0
        return index + self.offset, os.getpid()


class Counting(IterableDataset[Any]):
    """Goes on where it ended, pass by pass."""

    def __init__(self) -> None:
        self.next = 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for _ in range(NUM_SAMPLES):
            self.next += 1
            yield self.next - 1, os.getpid()


class Replay(IterableDataset[Any]):
    """A buffer that the trainer fills while it trains."""

    def __init__(self) -> None:
        self.buffer = deque(range(4), maxlen=1000)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for _ in range(NUM_SAMPLES):
            yield self.buffer[-1], os.getpid()


class Following(Sampler[int]):
    """Gives what the script wants next."""

    def __init__(self) -> None:
        self.wanted = 0

    def __iter__(self) -> Iterator[int]:
        for _ in range(NUM_SAMPLES):
            yield self.wanted

    def __len__(self) -> int:
        return NUM_SAMPLES


Fed = "Callable[..., tuple[DataLoader[Any], list[str]]]"


@pytest.fixture
def fed(serve: Callable[..., Any], secret: bytes) -> Iterator[Callable[..., Any]]:
    """Make loaders without data workers of their own, fed by a server; with what is told."""
    made: list[DataLoader[Any]] = []

    def make(dataset: Any, **options: Any) -> tuple[DataLoader[Any], list[str]]:
        told: list[str] = []
        servers = [serve().address]
        options = {"batch_size": 4, "servers": servers, "secret": secret} | options
        made.append(DataLoader(dataset, notify=told.append, **options))
        return made[-1], told

    yield make
    for loader in made:
        loader.close()


def makers(batches: list[Any]) -> set[int]:
    return {pid for _, pids in batches for pid in pids.tolist()}


def values(batches: list[Any]) -> list[int]:
    return [value for numbers, _ in batches for value in numbers.tolist()]


def test_a_function_of_the_index_is_made_by_data_servers(fed: Fed) -> None:
    loader, told = fed(Numbers())

    for _ in range(2):
        batches = list(loader)
        assert values(batches) == list(range(NUM_SAMPLES))
        assert os.getpid() not in makers(batches)
    assert told == []


@pytest.mark.parametrize("after", [1, 2, 5, 8])
def test_a_change_in_the_trainer_is_seen_at_the_next_look(fed: Fed, after: int) -> None:
    dataset = Numbers()
    loader, told = fed(dataset)
    got = []

    for number, batch in enumerate(loader, 1):
        got.append(batch)
        if number == after:
            dataset.scale = 100

    looked = next(count for count in (1, 2, 4, 8) if count >= after)
    same = 4 * looked
    assert values(got)[:same] == list(range(same))
    assert values(got)[same:] == [100 * value for value in range(same, NUM_SAMPLES)]
    assert makers(got[looked:]) == {os.getpid()}
    count = f"{looked} batch{'es' if looked > 1 else ''}"
    before = " (those before were made of several copies)" if looked > 1 else ""
    assert "".join(told) == (
        "The loader over Numbers is prepared by this trainer from now on: dataset.scale "
        f"changed after {count}, which those after it are to see, as num_workers=0 has it"
        f"{before}. With num_workers=1 data servers would make them of a copy."
    )
    assert makers(list(loader)) == {os.getpid()}
    assert len(told) == 1  # it is told once


def test_a_dataset_that_remembers_is_prepared_by_the_trainer(fed: Fed) -> None:
    records: list[Any] = []
    loader, told = fed(Remembering(), record=records.append)

    batches = list(loader)
    loader.close()

    assert values(batches) == list(range(NUM_SAMPLES))
    assert makers(batches) == {os.getpid()}
    assert "dataset.cache changed after" in told[0]
    assert sum(each.batches for each in records) == len(batches)


def test_a_stream_that_goes_on_where_it_ended_does_so(fed: Fed) -> None:
    loader, told = fed(Counting())

    assert [values(list(loader)) for _ in range(2)] == [
        list(range(NUM_SAMPLES)),
        list(range(NUM_SAMPLES, 2 * NUM_SAMPLES)),
    ]
    assert "dataset.next changed" in told[0]


def test_a_buffer_that_the_trainer_fills_is_read_as_it_is(fed: Fed) -> None:
    dataset = Replay()
    loader, told = fed(dataset)
    newest = []

    for numbers, _ in loader:
        newest.append(numbers.max().item() == dataset.buffer[-1])
        dataset.buffer.append(dataset.buffer[-1] + 1)

    assert all(newest)
    assert "dataset.buffer changed after 1 batch," in told[0]


def test_a_sampler_of_the_scripts_own_is_asked_when_torch_would_ask_it(fed: Fed) -> None:
    sampler = Following()
    loader, told = fed(Numbers(), batch_size=1, sampler=sampler)

    for numbers, pids in loader:
        assert numbers.tolist() == [sampler.wanted]
        assert os.getpid() not in pids.tolist()
        sampler.wanted = (sampler.wanted + 7) % NUM_SAMPLES
    assert told == []


def test_torchs_own_samplers_are_asked_ahead(fed: Fed, monkeypatch: pytest.MonkeyPatch) -> None:
    undelivered: list[int] = []
    plain = in_turn.InTurnIterator._next_data

    def watched(self: in_turn.InTurnIterator) -> object:
        batch = plain(self)
        assert self._epoch is not None
        undelivered.append(self._epoch.undelivered)
        return batch

    monkeypatch.setattr(in_turn.InTurnIterator, "_next_data", watched)
    loader, _ = fed(Numbers(), shuffle=True, generator=torch.Generator().manual_seed(3))

    assert sorted(values(list(loader))) == list(range(NUM_SAMPLES))

    assert max(undelivered) > 1


def test_data_workers_have_a_copy_and_nobody_looks(fed: Fed) -> None:
    loader, told = fed(Remembering(), num_workers=1, num_local_workers=0)

    assert os.getpid() not in makers(list(loader))
    assert told == []


def test_what_is_set_up_once_is_no_change(fed: Fed) -> None:
    loader, told = fed(SettingUp())

    batches = list(loader)

    assert values(batches) == list(range(NUM_SAMPLES))
    assert os.getpid() not in makers(batches)
    assert told == []


@pytest.mark.parametrize("cache", [{}, set(), [None] * NUM_SAMPLES])
@pytest.mark.parametrize("batch_size", [4, None])
def test_a_dataset_that_looks_at_its_cache_is_prepared_by_the_trainer(
    fed: Fed, cache: Any, batch_size: int | None
) -> None:
    dataset = Caching(copy.copy(cache))
    alone = [dataset[index][0] for index in range(NUM_SAMPLES)]
    loader, told = fed(Caching(copy.copy(cache)), batch_size=batch_size, num_local_workers=0)

    made = list(loader)

    assert [
        int(each) for value, _ in made for each in torch.as_tensor(value).flatten()
    ] == alone
    (sentence,) = told
    assert "dataset.cache changed" in sentence


def test_a_first_sample_that_is_another_one_is_made_by_the_trainer(fed: Fed) -> None:
    loader, told = fed(Once(), num_local_workers=0)

    assert values(list(loader)) == [-1, *range(1, NUM_SAMPLES)]
    assert len(told) == 1


@pytest.mark.parametrize("num_local", [0, 1])
def test_every_pass_of_a_dataset_that_remembers_is_right(fed: Fed, num_local: int) -> None:
    loader, told = fed(Remembering(), num_local_workers=num_local)

    passes = [values(list(loader)) for _ in range(3)]

    assert passes[0] == list(range(NUM_SAMPLES))
    assert all(made[-1] >= NUM_SAMPLES - 1 for made in passes)
    assert len(told) == 1


def test_without_data_servers_nobody_looks() -> None:
    loader = DataLoader(Remembering(), batch_size=4, num_local_workers=2)

    assert os.getpid() not in makers(list(loader))
    loader.close()


def test_a_job_may_leave_such_loaders_in_the_trainer(fed: Fed) -> None:
    placement.set_default(placement.Placement(keeps_in_process=True))

    loader, told = fed(Numbers())

    assert makers(list(loader)) == {os.getpid()}
    assert told == []
