from __future__ import annotations

import itertools
from collections import deque
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.dataservice.iterating.rotation import Rotation

if TYPE_CHECKING:
    from smtc_lab.dataservice.iterating.rotation import Turn

Batch = tuple[int, int]
"""Stream and position."""

lengths_of_streams = st.lists(st.integers(0, 6), min_size=1, max_size=5)
randoms = st.integers().map(Random)


class TorchModel:
    """``_MultiProcessingDataLoaderIter`` of torch 2.9, in order, over iterable-style datasets.

    Its names and its steps are torch's. The worker processes are queues here, and chance says
    which of them answers next.
    """

    def __init__(self, lengths: list[int], prefetch_factor: int, chance: Random) -> None:
        self.lengths, self.chance = lengths, chance
        self.made = [0] * len(lengths)
        self.index_queues: list[deque[int]] = [deque() for _ in lengths]
        self.max_tasks = prefetch_factor * len(lengths)
        self.send_idx = self.rcvd_idx = self.tasks_outstanding = 0
        self.task_info: dict[int, tuple[int, Batch | None]] = {}
        self.workers_status = [True] * len(lengths)
        self.cycle = itertools.cycle(range(len(lengths)))
        for _ in range(self.max_tasks):
            self.try_put_index()

    def try_put_index(self) -> None:
        assert self.tasks_outstanding < self.max_tasks
        for _ in self.lengths:
            worker = next(self.cycle)
            if self.workers_status[worker]:
                break
        else:
            return
        self.index_queues[worker].append(self.send_idx)
        self.task_info[self.send_idx] = (worker, None)
        self.tasks_outstanding += 1
        self.send_idx += 1

    def get_data(self) -> tuple[int, Batch | None]:
        """Return the answer of any worker: a batch, or None for ``StopIteration``."""
        worker = self.chance.choice([n for n, queue in enumerate(self.index_queues) if queue])
        idx = self.index_queues[worker].popleft()
        if self.made[worker] == self.lengths[worker]:
            self.index_queues[worker].clear()  # iteration_end: it answers no more
            return idx, None
        self.made[worker] += 1
        return idx, (worker, self.made[worker] - 1)

    def __iter__(self) -> TorchModel:
        return self

    def __next__(self) -> Batch:
        while True:
            while self.rcvd_idx < self.send_idx:
                if self.rcvd_idx in self.task_info:
                    worker, data = self.task_info[self.rcvd_idx]
                    if data or self.workers_status[worker]:
                        break
                    del self.task_info[self.rcvd_idx]
                self.rcvd_idx += 1
            else:
                raise StopIteration
            if data:
                del self.task_info[self.rcvd_idx]
                self.rcvd_idx += 1
                self.try_put_index()
                return data
            idx, answer = self.get_data()
            self.tasks_outstanding -= 1
            if answer is None:
                self.workers_status[self.task_info[idx][0]] = False
                self.try_put_index()
            elif idx != self.rcvd_idx:
                self.task_info[idx] = (answer[0], answer)
            else:
                del self.task_info[idx]
                self.rcvd_idx += 1
                self.try_put_index()
                return answer


def delivered_by_rotation(
    lengths: list[int], window: int, *, in_order: bool, chance: Random
) -> list[Batch]:
    """Ask ahead as a trainer does; chance says which request is answered next."""
    rotation = Rotation(len(lengths), in_order=in_order)
    asked: list[Turn] = []
    answered: list[Turn] = []
    delivered: list[Batch] = []
    while True:
        while len(asked) + len(answered) < window and (turn := rotation.next()):
            asked.append(turn)
            assert turn.order <= sum(lengths) + window * len(lengths), "it has no end"
        if not asked and not answered:
            return delivered
        if asked:
            turn = chance.choice(asked)
            if turn.position < lengths[turn.stream]:
                asked.remove(turn)
                answered.append(turn)
            else:
                vanished = rotation.ended(turn.stream, turn.position)
                assert turn in vanished
                asked = [other for other in asked if other not in vanished]
        answered.sort()
        while answered and not (in_order and asked and min(asked) < answered[0]):
            turn = answered.pop(0)
            rotation.delivered(turn)
            delivered.append((turn.stream, turn.position))


@settings(deadline=None)
@given(
    lengths=lengths_of_streams,
    window=st.integers(1, 12),
    prefetch_factor=st.integers(1, 3),
    chance=randoms,
)
def test_batches_in_order_are_those_of_torch_however_many_are_asked_ahead(
    lengths: list[int], window: int, prefetch_factor: int, chance: Random
) -> None:
    torch_order = list(TorchModel(lengths, prefetch_factor, chance))

    assert delivered_by_rotation(lengths, window, in_order=True, chance=chance) == torch_order


@settings(deadline=None)
@given(lengths=lengths_of_streams, window=st.integers(1, 12), chance=randoms)
def test_every_batch_is_delivered_once_without_order(
    lengths: list[int], window: int, chance: Random
) -> None:
    delivered = delivered_by_rotation(lengths, window, in_order=False, chance=chance)

    assert sorted(delivered) == [
        (stream, position)
        for stream, length in enumerate(lengths)
        for position in range(length)
    ]


def turns(rotation: Rotation, count: int) -> list[Batch]:
    return [(turn.stream, turn.position) for _ in range(count) if (turn := rotation.next())]


def test_streams_take_turns() -> None:
    assert turns(Rotation(2, in_order=True), 5) == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]


def test_no_workers_are_one_stream() -> None:
    assert turns(Rotation(0, in_order=True), 2) == [(0, 0), (0, 1)]


def test_a_stream_that_has_ended_leaves_the_rotation() -> None:
    rotation = Rotation(3, in_order=True)
    turns(rotation, 4)

    rotation.ended(1, 0)

    assert turns(rotation, 3) == [(2, 1), (0, 2), (2, 2)]


def test_the_end_of_a_stream_tells_which_turns_have_no_batch() -> None:
    rotation = Rotation(2, in_order=True)
    turns(rotation, 8)

    assert [turn.order for turn in rotation.ended(1, 2)] == [5, 7]


def test_an_earlier_end_of_the_same_stream_takes_more_turns() -> None:
    rotation = Rotation(2, in_order=True)
    turns(rotation, 8)
    rotation.ended(1, 3)

    assert [turn.order for turn in rotation.ended(1, 1)] == [3, 5]
    assert rotation.ended(1, 2) == []


def test_turns_that_were_delivered_do_not_vanish() -> None:
    rotation = Rotation(1, in_order=True)
    first = rotation.next()
    assert first is not None
    turns(rotation, 2)
    rotation.delivered(first)

    assert [turn.position for turn in rotation.ended(0, 1)] == [1, 2]


@pytest.mark.parametrize("in_order", [True, False])
def test_there_is_no_turn_when_all_streams_have_ended(*, in_order: bool) -> None:
    rotation = Rotation(2, in_order=in_order)
    rotation.ended(0, 0)
    rotation.ended(1, 0)

    assert rotation.next() is None


def test_a_slow_stream_is_asked_less_without_order() -> None:
    rotation = Rotation(2, in_order=False)
    turns(rotation, 2)  # nobody answers for stream 0
    asked = []
    for _ in range(6):
        turn = rotation.next()
        assert turn is not None
        asked.append(turn.stream)
        if turn.stream == 1:
            rotation.delivered(turn)

    assert asked.count(0) <= 1
