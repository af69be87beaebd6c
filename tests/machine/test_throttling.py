from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.machine.throttling import Throttling, asked_cpu_s

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
