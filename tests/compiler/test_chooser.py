"""The reckoning of ``auto``, on step times that are made up: no clock, no model."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from smtc_lab.compiler.choosing.chooser import Chooser

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Times = dict[str, Callable[[int], float]]


def steady(
    step_s: float, *, compile_s: float = 0.0, noise: float = 0.0
) -> Callable[[int], float]:
    """Return the time of a backend's n-th step."""
    chance = random.Random(7)  # noqa: S311  made-up noise

    def time_s(number: int) -> float:
        first = compile_s if number == 0 else 0.0
        return first + step_s * (1 + noise * chance.uniform(-1, 1))

    return time_s


def run(
    times: Times,
    *,
    num_steps: int | None,
    most: int = 5000,
    apart: Mapping[str, float] | None = None,
) -> tuple[Chooser, list[str]]:
    """Take the steps of a job, and return the chooser and the backend of each step."""
    chooser = Chooser(list(times), num_steps=lambda: num_steps, apart=apart or {})
    took = dict.fromkeys(times, 0)
    ran: list[str] = []
    for _ in range(min(most, num_steps or most)):
        if chooser.is_done:
            break
        name = chooser.current
        ran.append(name)
        chooser.ended(times[name](took[name]))
        took[name] += 1
    return chooser, ran


def test_the_quickest_backend_of_a_long_job_is_kept() -> None:
    chooser, _ = run(
        {
            "eager": steady(0.1),
            "xla": steady(0.08, compile_s=10),
            "inductor": steady(0.05, compile_s=20),
        },
        num_steps=100_000,
    )

    assert (chooser.is_done, chooser.current) == (True, "inductor")
    assert "eager 100 ms, xla 80 ms, inductor 50 ms" in chooser.because


def test_a_compiler_that_gains_nothing_is_not_kept() -> None:
    chooser, _ = run(
        {
            "eager": steady(0.1, noise=0.05),
            "inductor": steady(0.1, compile_s=20, noise=0.05),
        },
        num_steps=100_000,
    )

    assert (chooser.is_done, chooser.current) == (True, "eager")


def test_a_short_job_does_not_even_begin_to_compile() -> None:
    chooser, ran = run(
        {"eager": steady(0.01), "inductor": steady(0.001, compile_s=20)}, num_steps=200
    )

    assert set(ran) == {"eager"}
    (_, inductor) = chooser.probes()
    assert inductor.problem is not None
    assert "not tried: the steps left take 1.93 s under eager" in inductor.problem


def test_a_job_that_ends_before_the_choice_was_eager() -> None:
    chooser, ran = run({"eager": steady(0.01), "inductor": steady(0.001)}, num_steps=3)

    assert (ran, chooser.is_done) == (["eager"] * 3, False)
    assert chooser.because == (
        "no choice was made: the job ended after 3 steps, while eager was measured"
    )


def test_an_unknown_number_of_steps_is_taken_for_many_and_said_so() -> None:
    chooser, _ = run(
        {"eager": steady(0.01), "inductor": steady(0.005, compile_s=9)}, num_steps=None
    )

    assert chooser.current == "inductor"
    assert "not known, taken for many" in chooser.because
    assert all(probe.predicted_job_s is None for probe in chooser.probes())


@pytest.mark.parametrize("step_s", [0.0005, 0.005, 0.05])
def test_a_noisy_machine_does_not_put_the_choice_off_for_long(step_s: float) -> None:
    times = {"eager": 1.0, "xla": 1.1, "inductor": 1.0}
    chooser, ran = run(
        {name: steady(step_s * ratio, noise=0.9) for name, ratio in times.items()},
        num_steps=None,
        most=100_000,
    )

    assert chooser.is_done
    assert len(ran) * step_s < 15


def test_inductor_and_eager_take_turns_once_it_has_compiled() -> None:
    _, ran = run(
        {
            "eager": steady(0.1, noise=0.2),
            "inductor": steady(0.09, compile_s=5, noise=0.2),
        },
        num_steps=100_000,
    )

    turns = ran[7 + 3 :]
    assert len(turns) > 10
    assert all(one != other for one, other in pairwise(turns))


def test_a_drift_that_slows_the_machine_down_does_not_decide() -> None:
    clock = [0]

    def drifting(step_s: float) -> Callable[[int], float]:
        def time_s(_: int) -> float:
            clock[0] += 1
            return step_s * (1 + clock[0] / 20)

        return time_s

    chooser, _ = run({"eager": drifting(0.1), "inductor": drifting(0.07)}, num_steps=100_000)

    assert chooser.current == "inductor"


def test_a_few_slow_steps_do_not_decide() -> None:
    def with_hiccups(number: int) -> float:
        return 2.0 if number % 6 == 3 else 0.05

    chooser, _ = run({"eager": steady(0.1), "inductor": with_hiccups}, num_steps=100_000)

    assert chooser.current == "inductor"


def test_a_backend_that_fails_is_told_and_left() -> None:
    chooser = Chooser(["eager", "xla", "inductor"], num_steps=lambda: None)
    took = 0
    while not chooser.is_done and took < 1000:
        took += 1
        if chooser.current == "xla":
            chooser.failed("no such operator", lost_s=30.0)
        else:
            chooser.ended({"eager": 0.1, "inductor": 0.05}[chooser.current])

    assert chooser.current == "inductor"
    probes = {probe.backend: probe for probe in chooser.probes()}
    assert (probes["xla"].problem, probes["xla"].step_time_s) == ("no such operator", None)
    assert "xla no such operator" in chooser.because
    assert chooser.probe_s() >= 30.0


def test_the_probe_counts_what_it_took_beyond_the_kept_backend() -> None:
    chooser, ran = run(
        {"eager": steady(0.1), "inductor": steady(0.05, compile_s=20)}, num_steps=100_000
    )

    eager_steps = ran.count("eager")
    assert chooser.probe_s() == pytest.approx(20 + 0.05 * eager_steps)
    assert chooser.probe_steps() == len(ran)
    (eager, inductor) = chooser.probes()
    assert inductor.compile_s == pytest.approx(20)
    assert inductor.predicted_job_s == pytest.approx(20 + 100_000 * 0.05)
    assert eager.predicted_job_s == pytest.approx(100_000 * 0.1)


def test_a_compilation_may_take_half_of_what_is_left() -> None:
    chooser = Chooser(["eager", "inductor"], num_steps=lambda: 1007)
    for _ in range(7):
        chooser.ended(0.1)

    assert chooser.current == "inductor"
    assert chooser.compile_limit_s() == pytest.approx(50)


@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.96, 0.99, 1.0, 1.01, 1.05, 2.0])
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_what_is_kept_is_at_most_two_percent_slower_than_the_best(
    ratio: float, noise: float
) -> None:
    step_s = {"eager": 0.02, "inductor": 0.02 * ratio}
    chooser, _ = run(
        {name: steady(time_s, noise=noise) for name, time_s in step_s.items()},
        num_steps=1_000_000,
    )

    assert chooser.is_done
    assert step_s[chooser.current] <= 1.021 * min(step_s.values())


def test_steps_of_another_process_are_no_steps_of_the_job() -> None:
    chooser, ran = run(
        {"eager": steady(0.1), "xla": steady(0.2, compile_s=10)},
        num_steps=1000,
        apart={"xla": 1.0},
    )

    of_job, apart = ran.count("eager"), ran.count("xla")
    assert chooser.current == "eager"
    assert chooser.probe_steps() == of_job
    assert chooser.probe_s() == pytest.approx(10 + 0.2 * apart)
    assert [probe.steps for probe in chooser.probes()] == [of_job - 2, apart - 2]


def test_xla_takes_turns_with_eager_where_it_runs_in_another_process() -> None:
    _, ran = run(
        {"eager": steady(0.1, noise=0.2), "xla": steady(0.09, compile_s=5, noise=0.2)},
        num_steps=100_000,
        apart={"xla": 1.0},
    )

    turns = ran[7 + 3 :]
    assert len(turns) > 10
    assert all(one != other for one, other in pairwise(turns))


@pytest.mark.parametrize(("num_steps", "kept"), [(300, "eager"), (100_000, "xla")])
def test_a_backend_of_another_process_is_kept_if_it_pays_to_compile_it_again(
    num_steps: int, kept: str
) -> None:
    times = {"eager": steady(0.1), "xla": steady(0.05, compile_s=20)}
    chooser, _ = run(times, num_steps=num_steps, apart={"xla": 1.0})

    assert (chooser.is_done, chooser.current) == (True, kept)
    told = "xla would compile again for about 20 s, more than it would save"
    assert (told in chooser.because) == (kept == "eager")


def test_what_finds_its_code_in_a_cache_is_kept_for_fewer_steps() -> None:
    times = {"eager": steady(0.1), "inductor": steady(0.05, compile_s=20)}
    chooser, _ = run(times, num_steps=300, apart={"inductor": 0.25})

    assert chooser.current == "inductor"


def test_a_compilation_that_is_made_twice_may_take_half_as_long() -> None:
    chooser = Chooser(["eager", "xla"], num_steps=lambda: 1007, apart={"xla": 1.0})
    for _ in range(7):
        chooser.ended(0.1)

    assert chooser.current == "xla"
    assert chooser.compile_limit_s() == pytest.approx(25)
