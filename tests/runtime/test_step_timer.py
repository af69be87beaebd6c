"""Steps, timed by a clock of the test's: no second of it passes here."""

from __future__ import annotations

import itertools
import os
from collections import OrderedDict, UserDict
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
import pytest
import torch

from smtc_lab.instance.context import InstanceContext
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.runtime.batch_samples import num_samples_of
from smtc_lab.runtime.step_timer import StepTimer
from smtc_lab.store.reader import read_records
from smtc_lab.store.writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BEGIN_S = 1000.0
"""Since the epoch, when a test begins. All times here are sums of powers of two, so exact."""


class MadeUpClock:
    """Time passes when somebody sleeps, and only then."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def perf_counter(self) -> float:
        return 8.0 + self.passed_s

    def time(self) -> float:
        return BEGIN_S + self.passed_s

    def sleep(self, seconds: float, /) -> None:
        self.passed_s += seconds


class Timed:
    """A timer with its clock and the records that it wrote."""

    def __init__(self, path: Path, **environment: str) -> None:
        self.clock = MadeUpClock()
        self.writer = RecordWriter(path)
        self.timer = StepTimer(InstanceContext.from_environment(environment), self.writer)
        self.timer.clock = self.clock
        self._path = path

    def draw(self, num_samples: int | None = 4, *, wait_s: float = 0.0) -> None:
        self.timer.ask()
        self.clock.sleep(wait_s)
        self.timer.got(num_samples)

    def records(self) -> list[StepRecord]:
        self.writer.close()
        return read_records(self._path, StepRecord)[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "algo-1-rank0.sqlite"


@pytest.fixture
def timed(path: Path) -> Iterator[Timed]:
    timed = Timed(path)
    yield timed
    timed.writer.close()


def test_a_step_goes_from_asking_for_the_batch_to_the_optimizer(timed: Timed) -> None:
    timed.clock.sleep(4.0)
    timed.draw(wait_s=0.5)
    timed.clock.sleep(0.25)
    timed.timer.end()

    (step,) = timed.records()

    assert step.step == 0
    assert (step.data_wait_s, step.step_time_s) == (0.5, 0.75)
    assert step.end_time_s == BEGIN_S + 4.75
    assert step.num_samples == 4
    assert step.device_time_s is None
    assert step.synchronized


def test_several_batches_before_one_optimizer_step_are_one_step(timed: Timed) -> None:
    for _ in range(3):
        timed.draw(wait_s=0.5)
        timed.clock.sleep(1.0)
    timed.timer.end()
    timed.draw(wait_s=0.25)
    timed.timer.end()

    first, second = timed.records()

    assert (first.num_samples, first.data_wait_s, first.step_time_s) == (12, 1.5, 4.5)
    assert (second.num_samples, second.data_wait_s, second.step_time_s) == (4, 0.25, 0.25)


def test_several_optimizer_steps_on_one_batch_share_its_time(timed: Timed) -> None:
    timed.draw(wait_s=0.5)
    for _ in range(3):
        timed.clock.sleep(0.25)
        timed.timer.end()

    steps = timed.records()

    assert [step.num_samples for step in steps] == [4, None, None]
    assert [step.data_wait_s for step in steps] == [0.5, 0, 0]
    assert [step.step_time_s for step in steps] == [0.75, 0.25, 0.25]


def test_the_end_of_an_epoch_drops_what_was_open(timed: Timed) -> None:
    timed.draw()
    timed.timer.end()
    timed.timer.ask()
    timed.clock.sleep(4.0)
    timed.timer.drop()

    timed.draw(num_samples=3, wait_s=0.5)
    timed.timer.end()

    _, second = timed.records()
    assert (second.num_samples, second.step_time_s) == (3, 0.5)


def test_batches_that_were_drawn_without_a_step_do_not_count(timed: Timed) -> None:
    timed.draw(num_samples=100, wait_s=4.0)  # a pass over the validation set
    timed.timer.drop()
    timed.draw(num_samples=4, wait_s=0.5)
    timed.timer.end()

    (step,) = timed.records()
    assert (step.num_samples, step.step_time_s) == (4, 0.5)


def draw(timer: StepTimer, source: int, num_samples: int, **how: bool) -> None:
    timer.ask(source, **how)
    timer.got(num_samples)


def test_batches_that_were_drawn_without_gradients_do_not_count(timed: Timed) -> None:
    for _ in range(2):  # a check before the training, as Lightning's, that ends nowhere
        draw(timed.timer, 1, 100, is_for_training=False)
        timed.clock.sleep(4.0)
    draw(timed.timer, 2, 4)
    timed.clock.sleep(0.5)
    timed.timer.end()

    (step,) = timed.records()
    assert (step.num_samples, step.step_time_s) == (4, 0.5)


def test_an_evaluation_between_batch_and_step_does_not_count(timed: Timed) -> None:
    draw(timed.timer, 2, 4)
    draw(timed.timer, 1, 100, is_for_training=False)
    timed.timer.end()

    assert [step.num_samples for step in timed.records()] == [4]


def test_an_evaluation_that_is_left_early_does_not_count(timed: Timed) -> None:
    draw(timed.timer, 2, 4)
    timed.timer.end()
    for _ in range(3):
        draw(timed.timer, 1, 100)
    draw(timed.timer, 2, 4)
    timed.timer.end()

    assert [step.num_samples for step in timed.records()] == [4, 4]


def test_batches_drawn_from_two_loaders_in_turns_are_one_step(timed: Timed) -> None:
    for _ in range(2):
        draw(timed.timer, 1, 4)
        draw(timed.timer, 2, 8)
    timed.timer.end()

    assert [step.num_samples for step in timed.records()] == [24]


def test_batches_that_gradients_were_computed_of_count(timed: Timed) -> None:
    for source in (1, 1, 2):
        draw(timed.timer, source, 4)
        timed.timer.went_backward()
    timed.timer.end()

    assert [step.num_samples for step in timed.records()] == [12]


def test_without_gradients_at_all_every_batch_counts(timed: Timed) -> None:
    draw(timed.timer, 1, 4, is_for_training=False)
    timed.timer.end()

    assert [step.num_samples for step in timed.records()] == [4]


def test_steps_that_were_kept_back_are_recorded_or_forgotten(timed: Timed) -> None:
    timed.timer.hold()
    timed.timer.end()
    timed.timer.forget()
    timed.timer.hold()
    timed.draw()
    timed.timer.end()
    timed.timer.release()
    timed.draw()
    timed.timer.end()

    assert [(step.step, step.num_samples) for step in timed.records()] == [(0, 4), (1, 4)]


def test_a_step_on_the_rest_of_an_epoch_has_its_batches_and_waits(timed: Timed) -> None:
    for _ in range(2):
        timed.draw(wait_s=0.5)
        timed.clock.sleep(0.25)
    timed.timer.ask()
    timed.timer.drop()
    timed.timer.end()
    timed.timer.end()

    rest, nothing = timed.records()

    assert (rest.num_samples, rest.data_wait_s, rest.step_time_s) == (8, 1.0, 1.5)
    assert (nothing.num_samples, nothing.data_wait_s, nothing.step_time_s) == (None, 0, 0)


def test_batches_that_a_thread_draws_ahead_count_once(timed: Timed) -> None:
    timed.draw(wait_s=0.5)
    for _ in range(2):
        timed.timer.ask()  # a thread asks for the next one while the first is trained on
        timed.clock.sleep(1.0)
        timed.timer.end()
        timed.clock.sleep(0.25)
        timed.timer.got(4)
    timed.clock.sleep(1.0)
    timed.timer.end()

    records = timed.records()

    assert [record.num_samples for record in records] == [4, 4, 4]
    assert [record.data_wait_s for record in records] == [0.5, 0.25, 0.25]
    for one, next_one in itertools.pairwise(records):
        assert next_one.step_time_s == next_one.end_time_s - one.end_time_s


def test_without_a_dataloader_a_step_begins_where_one_ended(timed: Timed) -> None:
    for _ in range(3):
        timed.clock.sleep(0.5)
        timed.timer.end()

    steps = timed.records()

    assert [step.step for step in steps] == [0, 1, 2]
    assert [step.step_time_s for step in steps] == [0, 0.5, 0.5]
    assert {step.data_wait_s for step in steps} == {0}


def test_an_unknown_number_of_samples_stays_unknown(timed: Timed) -> None:
    timed.draw(num_samples=None)
    timed.timer.end()

    assert timed.records()[0].num_samples is None


def test_an_emulated_device_takes_its_declared_time_from_the_batch_on(path: Path) -> None:
    timed = Timed(path, SMTC_DEVICE_STEP_TIME_S="2")
    for host_s in (1.0, 4.0):  # shorter than the device takes, and longer
        timed.draw(wait_s=0.5)
        timed.clock.sleep(host_s)
        timed.timer.end()
    timed.timer.end()  # no batch of its own

    steps = timed.records()

    assert {step.device_time_s for step in steps} == {2.0}
    assert [step.step_time_s for step in steps] == [0.5 + 2.0, 0.5 + 4.0, 2.0]


def test_max_steps_are_reached_after_so_many_steps(path: Path) -> None:
    timed = Timed(path, SMTC_MAX_STEPS="2")

    done = []
    for _ in range(2):
        timed.draw()
        done.append(timed.timer.is_done)
        timed.timer.end()

    assert done == [False, False]
    assert timed.timer.is_done
    assert len(timed.records()) == 2


def test_max_steps_count_what_earlier_attempts_took() -> None:
    timer = StepTimer(InstanceContext.from_environment({"SMTC_MAX_STEPS": "5"}), None)
    timer.first_step = 4

    assert not timer.is_done
    timer.end()
    assert timer.is_done


def test_the_agent_hears_of_the_begin_and_of_the_last_step() -> None:
    heard, said = os.pipe()
    timer = StepTimer(
        InstanceContext.from_environment({"SMTC_MAX_STEPS": "2", "SMTC_READY_FD": str(said)}),
        None,
    )

    timer.end()
    assert os.read(heard, 64) == b"ready\n"
    timer.end()
    assert os.read(heard, 64) == b"done\n"
    os.close(heard)
    os.close(said)


def test_without_max_steps_it_is_never_done(timed: Timed) -> None:
    timed.timer.end()

    assert not timed.timer.is_done


def test_without_a_writer_steps_are_only_counted() -> None:
    timer = StepTimer(InstanceContext.from_environment({}), None)
    timer.ask()
    timer.got(1)
    timer.end()

    assert timer.num_steps == 1


class Pair(NamedTuple):
    images: torch.Tensor
    labels: torch.Tensor


IMAGES, LABELS = torch.zeros(5, 3), torch.zeros(5)


@pytest.mark.parametrize(
    ("batch", "num_samples"),
    [
        (IMAGES, 5),
        ([IMAGES, LABELS], 5),
        ((IMAGES, LABELS), 5),
        (Pair(IMAGES, LABELS), 5),
        ({"images": IMAGES}, 5),
        (OrderedDict(images=IMAGES), 5),
        (UserDict(input_ids=IMAGES), 5),
        ({"text": ["a"] * 5, "images": [{"pixels": IMAGES}]}, 5),
        (IMAGES.numpy(), 5),
        (torch.zeros(0, 3), 0),
        (torch.tensor(1.0), None),
        ("text", None),
        (7, None),
        (None, None),
        ([], None),
        ({}, None),
    ],
)
def test_the_samples_of_a_batch_are_the_length_of_its_first_tensor(
    batch: object, num_samples: int | None
) -> None:
    assert num_samples_of(batch) == num_samples


class AttributeDict(dict[str, object]):
    """A dict whose keys are attributes too: one that it lacks raises KeyError."""

    __getattr__ = dict.__getitem__


class Mesh:
    """Has a method where an array has its shape."""

    def shape(self) -> tuple[int, ...]:
        return (5, 3)


class Unasked:
    """Raises whatever attribute it is asked for, its class included."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)


class Lazy:
    """Sized as its samples, with a shape that is not known yet."""

    def __len__(self) -> int:
        return 5

    @property
    def shape(self) -> tuple[int, ...]:
        raise NotImplementedError


class Unready(Lazy):
    def __len__(self) -> int:
        raise KeyError("graph")


class Attributes(Lazy):
    """Counts its attributes, as a graph of PyTorch Geometric does."""

    def keys(self) -> list[str]:
        return ["x", "edges"]


class Closed(UserDict[str, object]):
    def values(self) -> NoReturn:
        raise OSError("closed")


@pytest.mark.parametrize(
    ("make", "num_samples"),
    [
        (lambda: AttributeDict(x=IMAGES, y=LABELS), 5),
        (AttributeDict, None),
        (lambda: AttributeDict(mesh=Mesh(), y=LABELS), 5),
        (Mesh, None),
        (lambda: [Mesh(), LABELS], 5),
        (Lazy, 5),
        (lambda: [Attributes(), Lazy()], 5),
        (Attributes, None),
        (Unready, None),
        (Closed, None),
        (lambda: IMAGES.numpy()[0], 3),
        (lambda: np.float32(1.0), None),
        (lambda: np.zeros(()), None),
        (lambda: ["a", "b"], None),
        (lambda: {1, 2}, 2),
    ],
)
def test_a_batch_of_the_scripts_own_class_is_never_asked_for_an_attribute(
    make: Callable[[], object], num_samples: int | None
) -> None:
    assert num_samples_of(make()) == num_samples


def test_not_even_its_class_is_asked_for() -> None:
    assert num_samples_of(Unasked()) is None
    assert num_samples_of((Unasked(), LABELS)) == 5


def test_a_tensor_tells_the_samples_rather_than_something_else_with_a_length() -> None:
    assert num_samples_of((range(7), IMAGES)) == 5


def test_a_batch_that_holds_itself_has_no_known_samples() -> None:
    batch: list[object] = []
    batch.append(batch)

    assert num_samples_of(batch) is None
