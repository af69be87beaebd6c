"""The policy, and the policy in a small model of a trainer with data workers of its own."""

from __future__ import annotations

import functools
import itertools
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.dataservice.client.sharing import Period, Sharing, first_sharing, next_sharing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOCAL_WEIGHTS = (110 / 1024, 0.3)
"""Of a process of niceness 10 beside a trainer, in the kernel's scheduler; and a worse one."""
HELD_UP_FRACTION = 0.03
SETTLES_WITHIN = 40
PROPERTY = settings(max_examples=60, deadline=None, derandomize=True)


def observation(**given_fields: Any) -> Period:
    """An interval of 1 s of an undisturbed trainer that has data ahead on four cores."""
    quiet: dict[str, Any] = {
        "interval_s": 1.0,
        "get_wait_s": 0.0,
        "trainer_delay_s": 0.0,
        "cores": 4.0,
        "trainer_cores": 0.5,
        "local_cores": 0.5,
        "local_busy_s": 0.5,
        "num_remote_workers": 0,
    }
    return Period(**quiet | given_fields)


def starved(**given_fields: Any) -> Period:
    return observation(**{"get_wait_s": 0.5, "local_busy_s": 9.0} | given_fields)


def number_after(num_local_workers: int, *observations: Period) -> int:
    sharing = Sharing(num_local_workers=num_local_workers)
    for one in observations:
        sharing = next_sharing(sharing, one)
    return sharing.num_local_workers


@pytest.mark.parametrize(
    ("cores", "has_servers", "expected"),
    [(4.0, False, 3), (4.0, True, 3), (1.0, False, 1), (1.0, True, 0), (2.5, True, 1)],
)
def test_the_trainer_keeps_one_core_to_begin_with(
    cores: float,
    has_servers: bool,  # noqa: FBT001  a parameter of the test
    expected: int,
) -> None:
    assert first_sharing(cores=cores, has_servers=has_servers).num_local_workers == expected


def test_a_trainer_that_waits_for_data_gets_one_more() -> None:
    assert number_after(1, starved()) == 2


@pytest.mark.parametrize(
    "reason_against",
    [
        {"get_wait_s": 0.04},
        {"local_cores": 3.2},
        {"local_busy_s": 0.4},
        {"cores": 1.9},
    ],
    ids=["hardly waits", "no CPU left", "not busy", "as many as cores"],
)
def test_there_is_not_one_more_for_nothing(reason_against: dict[str, float]) -> None:
    assert number_after(1, starved(**reason_against)) == 1


def test_a_trainer_that_is_held_up_gets_one_fewer_at_once() -> None:
    assert number_after(3, observation(trainer_delay_s=0.04)) == 2


def test_the_first_time_it_gets_all_cores_that_it_wants() -> None:
    assert number_after(3, observation(trainer_delay_s=0.04, trainer_cores=2.6)) == 1


def test_an_unknown_delay_holds_nobody_up() -> None:
    assert number_after(3, observation(trainer_delay_s=None)) == 3


def test_a_delay_that_waiting_for_data_hides_costs_no_data_worker() -> None:
    assert number_after(4, starved(trainer_delay_s=0.2)) == 4


def test_the_last_data_worker_stays_where_nobody_else_prepares_batches() -> None:
    held_up = observation(trainer_delay_s=0.5)

    assert number_after(1, held_up) == 1
    assert number_after(1, replace(held_up, num_remote_workers=1)) == 0
    assert number_after(0, observation()) == 1


def test_fewer_cores_mean_fewer_data_workers_at_once() -> None:
    assert number_after(7, observation(cores=2.0)) == 2


def test_one_that_held_the_trainer_up_comes_back_after_ever_longer_times() -> None:
    held_up = observation(trainer_delay_s=0.12)
    waits = starved(get_wait_s=0.12)  # it loses as much without that data worker
    sharing = Sharing(num_local_workers=3)
    stays_away = []
    for _ in range(9):
        sharing = next_sharing(sharing, held_up)
        intervals = 0
        while sharing.num_local_workers == 2 and intervals < 300:
            sharing = next_sharing(sharing, waits)
            intervals += 1
        stays_away.append(intervals)

    assert stays_away == [8, 16, 32, 64, 128, 256, 256, 256, 256]


def test_one_that_is_missed_more_than_it_held_up_comes_back_at_once_and_stays() -> None:
    held_up = observation(trainer_delay_s=0.05)

    assert number_after(3, held_up, starved()) == 3
    assert number_after(3, held_up, starved(), *[held_up] * 6) == 3


def test_it_is_tried_again_later_whether_one_that_holds_the_trainer_up_is_missed() -> None:
    held_up = observation(trainer_delay_s=0.05)

    assert number_after(3, held_up, starved(), *[held_up] * 8) == 2


def test_spare_cpu_is_used_again_although_data_servers_are_ahead() -> None:
    held_up = observation(trainer_delay_s=0.05, num_remote_workers=4)
    ahead = observation(num_remote_workers=4)

    assert number_after(3, held_up, *[ahead] * 7) == 2
    assert number_after(3, held_up, *[ahead] * 8) == 3
    assert number_after(3, held_up, *[ahead] * 50) == 3


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A trainer, its data workers and data servers, as flows that share CPUs by weight."""

    cores: int
    trainer_threads: int
    trainer_cpu_s: float
    """CPU time of the trainer for a batch, on all its threads."""
    device_s: float
    """Time for a batch in which the trainer waits for its device."""
    sample_cpu_s: float
    """CPU time of a data worker for a batch."""
    remote_batches_per_s: float
    local_weight: float
    """How much of the CPU a data worker takes beside one thread of the trainer, 0 to 1."""

    @property
    def least(self) -> int:
        return 0 if self.remote_batches_per_s else 1

    @functools.cache  # noqa: B019  a small value object
    def interval(self, num_local_workers: int) -> tuple[float, Period]:
        """Return batches per second, and what is observed meanwhile."""
        duty = 1.0
        for _ in range(40):  # half steps to where what is made is what is taken
            batches, asked_duty, seen = self._flow(num_local_workers, duty)
            duty = (duty + asked_duty) / 2
        return batches, seen

    def _flow(self, num: int, duty: float) -> tuple[float, float, Period]:
        threads = self.trainer_threads
        crowded = min(1.0, self.cores / (threads + num * self.local_weight))
        speed = 1 - (1 - crowded) * duty
        active_s = self.trainer_cpu_s / (threads * speed)
        beside_cores = min(num, self.cores - threads * crowded)
        alone_cores = min(num, self.cores)
        takes = 1 / (active_s + self.device_s)
        makes = (self.remote_batches_per_s + alone_cores / self.sample_cpu_s) / (
            1 + active_s * (alone_cores - beside_cores) / self.sample_cpu_s
        )
        batches = min(takes, makes)
        active = batches * active_s
        most_local = (active * beside_cores + (1 - active) * alone_cores) / self.sample_cpu_s
        local = batches * most_local / (most_local + self.remote_batches_per_s or 1)
        local_cores = local * self.sample_cpu_s
        busy = min(1.0, local / most_local) if most_local else 0.0
        seen = observation(
            get_wait_s=1 - batches * (active_s + self.device_s),
            trainer_delay_s=active * (1 - speed),
            cores=float(self.cores),
            trainer_cores=batches * self.trainer_cpu_s,
            local_cores=local_cores,
            local_busy_s=num * busy,
            num_remote_workers=bool(self.remote_batches_per_s),
        )
        return batches, busy, seen

    def run(
        self, intervals: int, disturb: Callable[[Period], Period] = lambda seen: seen
    ) -> Iterator[int]:
        """Yield the number of data workers of each interval."""
        seen = {num: self.interval(num)[1] for num in range(self.cores + 1)}
        sharing = first_sharing(cores=self.cores, has_servers=bool(self.remote_batches_per_s))
        for _ in range(intervals):
            yield sharing.num_local_workers
            sharing = next_sharing(sharing, disturb(seen[sharing.num_local_workers]))


def num_changes(numbers: list[int]) -> int:
    return sum(one != other for one, other in itertools.pairwise(numbers))


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    cores = draw(st.integers(1, 24))
    return Machine(
        cores=cores,
        trainer_threads=draw(st.just(1) | st.integers(1, cores)),
        trainer_cpu_s=draw(st.floats(0.001, 2.0)),
        device_s=draw(st.just(0.0) | st.floats(0.0, 1.0)),
        sample_cpu_s=draw(st.floats(0.001, 10.0)),
        remote_batches_per_s=draw(st.just(0.0) | st.floats(0.1, 100.0)),
        local_weight=draw(st.sampled_from(LOCAL_WEIGHTS)),
    )


@PROPERTY
@given(machine=machines())
def test_the_number_stays_within_its_bounds(machine: Machine) -> None:
    assert all(machine.least <= num <= machine.cores for num in machine.run(100))


@PROPERTY
@given(machine=machines())
def test_constant_conditions_lead_to_a_number_that_is_hardly_ever_left(
    machine: Machine,
) -> None:
    numbers = list(machine.run(1000))[SETTLES_WITHIN:]

    # Now and then it is tried whether one more still holds the trainer up.
    assert num_changes(numbers) <= 30


@PROPERTY
@given(machine=machines())
def test_throughput_is_within_a_tenth_of_the_best_fixed_number(machine: Machine) -> None:
    best = max(machine.interval(num)[0] for num in range(machine.least, machine.cores + 1))
    numbers = list(machine.run(300))[SETTLES_WITHIN:]
    usual = max(set(numbers), key=numbers.count)

    assert machine.interval(usual)[0] >= 0.9 * best


@PROPERTY
@given(machine=machines())
def test_the_trainer_is_not_held_up_for_longer_than_two_intervals(machine: Machine) -> None:
    def costs_steps(num: int) -> bool:
        batches, seen = machine.interval(num)
        return (
            seen.delay_fraction > HELD_UP_FRACTION
            and num > machine.least
            and machine.interval(num - 1)[0] >= batches
        )

    held_up = [costs_steps(num) for num in machine.run(100)]

    assert not any(all(held_up[place : place + 3]) for place in range(len(held_up) - 2))


@PROPERTY
@given(machine=machines(), seed=st.integers(0, 2**32))
def test_noise_does_not_make_it_swing(machine: Machine, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  noise, no secret

    def disturb(seen: Period) -> Period:
        return replace(
            seen,
            get_wait_s=seen.get_wait_s * rng.uniform(0.8, 1.2),
            trainer_delay_s=(seen.trainer_delay_s or 0.0) + rng.uniform(0, 0.015),
        )

    numbers = list(machine.run(1000, disturb))[SETTLES_WITHIN:]

    assert num_changes(numbers) <= 60
