from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.machine.quota.throttling import AskedCpu, Throttling, asked_cpu_s

SECONDS = st.floats(0, 1e6)


def asked(
    *, used_s: float, waited_s: float = 0.0, at_limit_s: float = 0.0, held_s: float = 0.0
) -> float:
    """Return what a tree with a quota of 0.5 cores asked for in one second."""
    return asked_cpu_s(
        used_s=used_s,
        waited_s=waited_s,
        limit_s=0.5,
        interval_s=1.0,
        throttling=Throttling(at_limit_s=at_limit_s, held_s=held_s),
    )


def test_an_idle_tree_asked_for_nothing() -> None:
    assert asked(used_s=0.0) == 0


def test_a_tree_that_got_what_it_wanted_asked_for_that() -> None:
    assert asked(used_s=0.3) == pytest.approx(0.3)


def test_standing_in_line_is_asking() -> None:
    assert asked(used_s=0.1, waited_s=0.7) == pytest.approx(0.4)
    assert asked(used_s=0.2, waited_s=9.0) == pytest.approx(0.5)


def test_a_burst_no_slower_than_the_quota_alone_makes_it_was_not_starved() -> None:
    assert asked(used_s=0.2, waited_s=0.1) == pytest.approx(0.2)


def test_being_held_by_the_quota_is_not_standing_in_line() -> None:
    assert asked(used_s=0.1, waited_s=0.7, held_s=0.3) == pytest.approx(0.25)
    assert asked(used_s=0.2, waited_s=0.1, held_s=0.3) == pytest.approx(0.2)


def test_a_tree_at_its_limit_asked_for_all_of_it() -> None:
    assert asked(used_s=0.4, at_limit_s=0.9) == pytest.approx(0.5)
    assert asked(used_s=0.4, at_limit_s=0.4) == pytest.approx(0.4)


@given(
    used_s=SECONDS,
    waited_s=SECONDS,
    limit_s=SECONDS,
    interval_s=SECONDS,
    throttling=st.builds(Throttling, at_limit_s=SECONDS, held_s=SECONDS),
)
def test_asked_is_at_least_what_was_used_and_no_more_than_the_limit(
    used_s: float, waited_s: float, limit_s: float, interval_s: float, throttling: Throttling
) -> None:
    asked_s = asked_cpu_s(
        used_s=used_s,
        waited_s=waited_s,
        limit_s=limit_s,
        interval_s=interval_s,
        throttling=throttling,
    )

    assert used_s <= asked_s <= max(used_s, limit_s)


@given(
    cores=st.floats(0.02, 8.0),
    period_s=st.sampled_from([0.05, 0.1]),
    looks_s=st.lists(st.floats(0.2, 1.5), min_size=1, max_size=30),
    first_s=st.floats(0.0, 0.1),
    window=st.tuples(st.integers(0, 29), st.integers(0, 29)),
)
def test_a_quota_that_is_fully_used_is_fully_delivered_over_any_window(
    cores: float,
    period_s: float,
    looks_s: list[float],
    first_s: float,
    window: tuple[int, int],
) -> None:
    """Each period's quota is used as soon as it is given out, and looks cut the periods."""

    def used_by(time_s: float) -> float:
        whole = int(time_s / period_s)
        running_s = (time_s - whole * period_s) * max(1.0, 2 * cores)
        return whole * cores * period_s + min(cores * period_s, running_s)

    asked_cpu, now_s = AskedCpu(), first_s
    used, asked_of = [], []
    for interval_s in looks_s:
        before_s, now_s = now_s, now_s + interval_s
        used.append(used_by(now_s) - used_by(before_s))
        asked_of.append(
            asked_cpu.look(
                used_s=used[-1],
                waited_s=0.0,
                limit_s=cores * interval_s,
                interval_s=interval_s,
                throttling=Throttling(at_limit_s=interval_s, held_s=interval_s),
            )
        )
    first, last = min(window), max(window) + 1

    assert sum(asked_of[first:last]) == pytest.approx(sum(used[first:last]))


@given(share=st.floats(0.1, 0.75), num_looks=st.integers(10, 40))
def test_a_tree_at_its_limit_that_got_less_was_not_served(share: float, num_looks: int) -> None:
    asked_cpu = AskedCpu()

    asked_s = sum(
        asked_cpu.look(
            used_s=0.25 * share,
            waited_s=0.0,
            limit_s=0.25,
            interval_s=0.5,
            throttling=Throttling(at_limit_s=0.5),
        )
        for _ in range(num_looks)
    )

    one_period_s = 0.1 * 0.5
    assert asked_s == pytest.approx(0.25 * num_looks - one_period_s)


@given(
    st.lists(
        st.tuples(st.floats(0, 10), st.floats(0, 10), st.floats(0.01, 10), st.floats(0, 10)),
        max_size=20,
    )
)
def test_looks_in_a_row_ask_for_what_was_used_and_no_more_than_the_limit(
    looks: list[tuple[float, float, float, float]],
) -> None:
    asked_cpu = AskedCpu()

    for used_s, waited_s, limit_s, at_limit_s in looks:
        asked_s = asked_cpu.look(
            used_s=used_s,
            waited_s=waited_s,
            limit_s=limit_s,
            interval_s=1.0,
            throttling=Throttling(at_limit_s=at_limit_s),
        )

        assert used_s <= asked_s <= max(used_s, limit_s)
