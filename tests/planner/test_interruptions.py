"""What interruptions cost: a formula, against jobs that are played event by event."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from smtc_lab.planner.interruptions import (
    Interruptions,
    best_interval_s,
    simulate_interruptions,
    simulated_jobs_s,
)

USEFUL_S = 48.5 * 3600
ROWS = [
    # hours between, save, restart; billed hours as they were simulated elsewhere
    (6.7, 60.0, 600.0, 53.4),
    (5.0, 20.0, 300.0, 51.7),
    (1.0, 20.0, 300.0, 58.5),
    (0.25, 30.0, 300.0, 84.7),
]


def interruptions(between_h: float, save_s: float, restart_s: float) -> Interruptions:
    return Interruptions(
        mean_time_between_s=3600 * between_h, checkpoint_s=save_s, restart_s=restart_s
    )


def played_s(how: Interruptions, *, useful_s: float, every_s: float, seed: int) -> float:
    """Return how long one job takes, event by event."""
    dice = random.Random(seed)  # noqa: S311  it decides nothing secret
    now_s, left_s = 0.0, useful_s
    next_s = dice.expovariate(1 / how.mean_time_between_s)
    while left_s > 0:
        work_s = min(every_s, left_s)
        end_s = now_s + work_s + how.checkpoint_s
        if end_s <= next_s:
            now_s, left_s = end_s, left_s - work_s
            continue
        now_s = next_s + how.wait_s + how.restart_s
        next_s = now_s + dice.expovariate(1 / how.mean_time_between_s)
    return now_s


@pytest.mark.parametrize(("between_h", "save_s", "restart_s", "hours"), ROWS)
def test_the_expected_time_is_that_of_played_jobs(
    between_h: float, save_s: float, restart_s: float, hours: float
) -> None:
    how = interruptions(between_h, save_s, restart_s)
    every_s = how.checkpoint_every_s
    pieces_s = every_s * math.ceil(USEFUL_S / every_s)

    played = [played_s(how, useful_s=pieces_s, every_s=every_s, seed=n) for n in range(600)]
    drawn_s = simulated_jobs_s(how, useful_s=pieces_s, jobs=10_000, seed=1)

    assert np.mean(played) == pytest.approx(how.expected_s(pieces_s), rel=0.005)
    assert drawn_s.mean() == pytest.approx(how.expected_s(pieces_s), rel=0.001)
    assert np.std(played) == pytest.approx(drawn_s.std(), rel=0.1)
    assert how.expected_s(USEFUL_S) / 3600 == pytest.approx(hours, rel=0.001)
    assert how.useful_fraction == pytest.approx(USEFUL_S / how.expected_s(USEFUL_S))


@pytest.mark.parametrize(("between_h", "save_s", "restart_s"), [row[:3] for row in ROWS])
def test_no_other_interval_between_checkpoints_is_quicker(
    between_h: float, save_s: float, restart_s: float
) -> None:
    how = interruptions(between_h, save_s, restart_s)
    best_s = how.checkpoint_every_s
    young_s = math.sqrt(2 * save_s * 3600 * between_h)

    for every_s in (0.98 * best_s, 1.02 * best_s, young_s):
        assert how.expected_s(USEFUL_S, every_s=every_s) > how.expected_s(USEFUL_S)
    daly_s = young_s * (1 + math.sqrt(save_s / (7200 * between_h)) / 3) - save_s
    assert best_s == pytest.approx(daly_s, rel=0.01)


def test_a_save_that_takes_no_time_is_due_at_once() -> None:
    assert best_interval_s(checkpoint_s=1e-9, mean_time_between_s=1e6) == pytest.approx(
        math.sqrt(2 * 1e-9 * 1e6), rel=1e-4
    )
    assert best_interval_s(checkpoint_s=1e9, mean_time_between_s=1.0) == pytest.approx(1.0)


def test_waiting_takes_time_and_is_not_billed() -> None:
    how = interruptions(1.0, 20.0, 300.0)
    waiting = how.model_copy(update={"wait_s": 900.0})

    drawn_s = simulated_jobs_s(waiting, useful_s=USEFUL_S, jobs=10_000, seed=2)

    assert drawn_s.mean() == pytest.approx(waiting.expected_s(USEFUL_S), rel=0.002)
    assert how.billed_fraction == 1.0
    billed_s = waiting.expected_s(USEFUL_S) * waiting.billed_fraction
    assert billed_s == pytest.approx(how.expected_s(USEFUL_S))


def test_a_job_is_the_same_for_the_same_seed() -> None:
    how = interruptions(1.0, 20.0, 300.0)

    first, again, other = (
        simulate_interruptions(how, useful_s=USEFUL_S, seed=seed) for seed in (1, 1, 2)
    )

    assert first == again != other


def test_interruptions_before_each_checkpoint_let_no_job_end_in_a_lifetime() -> None:
    how = Interruptions(mean_time_between_s=60.0, checkpoint_s=180.0, restart_s=60.0)

    with pytest.raises(ValueError, match=r"mean_time_between_s=60 leaves no time"):
        simulate_interruptions(how, useful_s=100.0)
    never = how.model_copy(update={"checkpoint_s": 60_000.0})
    assert never.useful_fraction == 0.0
    assert never.billed_fraction == 1.0
