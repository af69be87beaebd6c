from __future__ import annotations

import itertools
import random
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch.utils.data import IterableDataset, get_worker_info

from smtc_lab.dataservice.streams import OpenStreams, StreamEnd
from tests.dataservice.streams_kit import (
    Uneven,
    place,
    plain,
    random_state_is_given_back,  # noqa: F401  a fixture for all tests here
    source,
    stream_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Noisy(IterableDataset[Any]):
    """Shuffles and transforms at random, and has a generator of its own."""

    def __init__(self) -> None:
        self.own = random.Random(3)  # noqa: S311  not for secrets

    def __iter__(self) -> Iterator[Any]:
        order = list(range(stream_number(), 20, 3))
        random.shuffle(order)
        return self._samples(order)

    def _samples(self, order: list[int]) -> Iterator[Any]:
        while order:
            sample = order.pop(random.randrange(len(order)))  # noqa: S311  as above
            yield sample, torch.rand(2), np.random.rand(), random.random(), self.own.random()  # noqa: NPY002, S311  as above


@pytest.mark.parametrize("seed", range(5))
def test_streams_are_bit_identical_however_many_data_workers_are_lost(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  as above
    served = source(Noisy(), batch_size=2)
    batches = [(stream, position) for position in range(3) for stream in range(3)]

    def delivered(data_workers: list[OpenStreams], *, losses: bool) -> list[Any]:
        made = []
        for stream, position in batches:
            if losses and chance.random() < 0.3:
                data_workers[chance.randrange(len(data_workers))] = OpenStreams()
            at = place(position, stream=stream, num_streams=3)
            made.append(plain(chance.choice(data_workers).batch(served, at)))
        return made

    undisturbed = delivered([OpenStreams()], losses=False)

    assert delivered([OpenStreams() for _ in range(3)], losses=True) == undisturbed


def test_any_position_can_be_asked_of_any_data_worker_at_any_time() -> None:
    served = source(Noisy(), batch_size=2)
    one = OpenStreams()
    reference = [plain(one.batch(served, place(position))) for position in range(4)]

    asked = [2, 0, 3, 1, 1]
    other = OpenStreams()
    assert [plain(other.batch(served, place(position))) for position in asked] == [
        reference[position] for position in asked
    ]


def test_epochs_and_streams_draw_different_numbers() -> None:
    class Drawing(IterableDataset[Any]):
        def __iter__(self) -> Iterator[Any]:
            while True:
                yield torch.rand(()).item()

    served = source(Drawing(), batch_size=4)
    drawn: set[float] = set()
    for epoch, stream in itertools.product(range(2), range(2)):
        at = place(0, stream=stream, num_streams=2, epoch=epoch)
        drawn.update(plain(OpenStreams().batch(served, at)))

    assert len(drawn) == 16


def test_a_stream_that_goes_forward_does_not_collate_what_it_passes() -> None:
    collated = []

    def collate(samples: Any) -> Any:
        collated.append(samples)
        return samples

    served = source(Uneven(10), batch_size=2, collate_fn=collate)
    OpenStreams().batch(served, place(3))

    assert collated == [[(0, 6), (0, 7)]]


def test_a_stream_sees_who_it_is_and_leaves_no_trace_of_it() -> None:
    class Seeing(IterableDataset[Any]):
        def __iter__(self) -> Iterator[Any]:
            while True:
                yield get_worker_info()

    served = source(
        Seeing(), batch_size=None, collate_fn=lambda info: (info, get_worker_info())
    )
    streams = OpenStreams()
    infos = []
    for stream in (1, 2):
        at = place(0, stream=stream, num_streams=3)
        seen: Any = streams.batch(served, at)
        info, info_in_collate_fn = seen
        assert info is info_in_collate_fn
        infos.append(info)

    assert [(info.id, info.num_workers) for info in infos] == [(1, 3), (2, 3)]
    assert infos[1].seed == infos[0].seed + 1
    assert isinstance(infos[0].dataset, Seeing)
    assert infos[0].dataset is not served.dataset
    assert get_worker_info() is None


class Counted(IterableDataset[Any]):
    """Tells the test when an iterator of it begins and ends."""

    def __init__(self, tell: Callable[[str], object], num_samples: int = 100) -> None:
        self.tell, self.num_samples = tell, num_samples

    def __iter__(self) -> Iterator[Any]:
        number = stream_number()
        self.tell(f"begin {number}")
        try:
            yield from range(self.num_samples)
        finally:
            self.tell(f"end {number}")

    def __deepcopy__(self, memo: Any) -> Counted:
        return Counted(self.tell, self.num_samples)


def test_a_stream_that_is_complete_is_not_iterated_again_to_say_so() -> None:
    said: list[str] = []
    served = source(Counted(said.append, num_samples=4), batch_size=2)
    streams = OpenStreams()
    for position in range(2):
        streams.batch(served, place(position))

    for position in (4, 2, 3):
        with pytest.raises(StreamEnd):
            streams.batch(served, place(position))

    assert said == ["begin 0", "end 0"]


def test_the_stream_not_asked_for_longest_is_closed_when_there_are_too_many() -> None:
    said: list[str] = []
    served = source(Counted(said.append), batch_size=2)
    streams = OpenStreams(max_open=2)
    for stream, position in [(0, 0), (1, 0), (0, 1), (2, 0)]:
        streams.batch(served, place(position, stream=stream, num_streams=3))

    assert sorted(said) == ["begin 0", "begin 1", "begin 2", "end 1"]


def test_a_new_epoch_closes_the_streams_of_former_ones() -> None:
    said: list[str] = []
    served = source(Counted(said.append), batch_size=2)
    streams = OpenStreams()
    for stream in range(2):
        streams.batch(served, place(0, stream=stream, num_streams=2))

    streams.batch(served, place(0, num_streams=2, epoch=1))

    assert said[:2] == ["begin 0", "begin 1"]
    assert sorted(said[2:4]) == ["end 0", "end 1"]
    assert said[4:] == ["begin 0"]


def test_two_epochs_at_once_do_not_close_each_other_for_ever() -> None:
    said: list[str] = []
    served = source(Counted(said.append), batch_size=2)
    streams = OpenStreams()
    for position in range(20):
        for epoch in range(2):
            streams.batch(served, place(position, epoch=epoch))

    assert said.count("begin 0") == 3


def test_closing_runs_the_finally_blocks_even_if_one_raises(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said: list[str] = []

    def tell(event: str) -> None:
        said.append(event)
        if event == "end 0":
            raise OSError("the disk is full")

    streams = OpenStreams()
    for stream in range(2):
        served = source(Counted(tell), batch_size=2)
        streams.batch(served, place(0, stream=stream, num_streams=2))

    streams.close()

    assert sorted(said[2:]) == ["end 0", "end 1"]
    assert "OSError: the disk is full" in capsys.readouterr().err


class Live(IterableDataset[Any]):
    """Yields what comes in a queue, which forgets it. Queues cannot be copied."""

    def __init__(self, num_samples: int) -> None:
        self.queue: SimpleQueue[int] = SimpleQueue()
        for sample in range(num_samples):
            self.queue.put(sample)

    def __iter__(self) -> Iterator[int]:
        while True:
            yield self.queue.get_nowait()


def test_a_queues_samples_come_at_most_once_when_a_data_worker_is_lost() -> None:
    served = source(Live(20), batch_size=2)
    lost, other = OpenStreams(), OpenStreams()
    delivered = plain(lost.batch(served, place(0)))
    lost.batch(served, place(1))  # asked ahead, and lost with its data worker

    delivered += plain(other.batch(served, place(1)))

    # 2 and 3 were lost with the data worker, 4 and 5 were taken to reach the position.
    assert delivered == [0, 1, 6, 7]


def test_samples_of_a_source_that_changes_may_come_twice_or_never() -> None:
    files = ["b", "c", "d", "e"]

    class Folder(IterableDataset[Any]):
        def __iter__(self) -> Iterator[str]:
            return iter(list(files))

    served = source(Folder(), batch_size=2)
    delivered = plain(OpenStreams().batch(served, place(0)))
    files.insert(0, "a")

    delivered += plain(OpenStreams().batch(served, place(1)))

    assert delivered == ["b", "c", "c", "d"]
