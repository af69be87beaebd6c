from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from notebooks.benchmarks.tuning import halving, kills, sampler
from notebooks.benchmarks.tuning.figures import figures_of
from notebooks.benchmarks.tuning.parts import PARTS, part_rows

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("optuna")


def figures(*rows: dict[str, Any]) -> dict[str, tuple[float, bool | None]]:
    return {
        " beside ".join(filter(None, (one.name, one.peer))): (one.value, one.holds)
        for one in figures_of(rows)
    }


def test_a_search_that_is_killed_is_laid_beside_an_unbroken_one(tmp_path: Path) -> None:
    (row,) = kills.kill_rows(tmp_path, seeds=1)

    assert (row["lost"], row["twice"], row["is_equal"]) == (0, 0, True)
    told = f"1 seeds, {row['kills']} kills"
    assert figures(row)[f"trials lost after kill -9 of the tuner, {told}"] == (0.0, True)
    missed = figures(row, {**row, "lost": 1, "is_equal": False})
    assert (1.0, False) in missed.values()
    assert (0.5, False) in missed.values()


def test_steps_saved_are_told_at_an_equal_best_loss(tmp_path: Path) -> None:
    rows = list(halving.halving_rows(tmp_path, seeds=1, trials=9, firsts=[9]))

    full, halved = rows
    assert full["steps"] == 9 * halving.LENGTH
    assert halved["steps"] < full["steps"]
    as_good = {**full, "losses": [1.0, 2.0, 3.0]}
    known = {**halved, "losses": [2.0], "steps": 81}
    told = "first rung at 9 of 81 values"
    peer = "trials trained fully until one is as good"
    # two of three are as good, so 4 / 3 trials of 243 steps are trained in the mean
    found = figures(as_good, known)
    assert found[f"trial steps saved by halving, {told} beside {peer}"][0] == pytest.approx(75)
    name = f"trial steps saved by halving at an equal best loss, 1 of 1 seeds, {told}"
    assert f"{name} beside all 9 trained fully" not in found
    equal = figures(as_good, {**known, "losses": [1.0]})
    saved = pytest.approx(100 * (1 - 1 / 9))
    assert equal[f"{name} beside all 9 trained fully"] == (saved, True)


def test_a_budget_and_what_was_expected(tmp_path: Path) -> None:
    rows = list(halving.budget_rows(tmp_path, seeds=1, trials=6))

    budget = next(row for row in rows if row["what"] == "budget")
    assert 0 < budget["trials"] < 6
    over = figures({**budget, "spent_usd": 1.1 * budget["budget_usd"]})
    name = "spent beyond a budget in USD, worst of 1 searches"
    assert over[name] == (pytest.approx(10.0), None)
    name = "searches beyond their budget by more than the step of a look, of 1"
    assert over[name] == (1.0, False)


def test_suggestions_and_cost_stand_beside_optunas(tmp_path: Path) -> None:
    rows = [
        *sampler.regret_rows(seeds=1, trials=3),
        *sampler.cost_rows(tmp_path, trials=101, rounds=1),
    ]

    found = figures(*rows)
    name = "missed by the best of 3 trials, Branin, median of 1 seeds"
    assert found[f"{name} beside Optuna's own loop"][0] > 0
    assert "CPU of the tuner a trial, at 101 trials: Random, all of it: ours" in found
    assert sampler.branin({"x0": -3.14159265, "x1": 12.275}) == pytest.approx(0, abs=1e-5)
    best = (0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573)
    point = {f"x{place}": value for place, value in enumerate(best)}
    assert sampler.hartmann6(point) == pytest.approx(0, abs=1e-4)


def test_points_that_were_launched_are_counted() -> None:
    point = {"what": "priced", "usd": [0.9, 1.0, 1.2], "measured_usd": 1.25, "is_inside": False}
    rows = [{**point, "measured_usd": 1.0, "is_inside": True}, point]

    assert figures(*rows)["points launched inside the 80 % interval, of 2"] == (0.5, False)


def test_a_part_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no part 'zap'. Choose among cost, kills, regret"):
        part_rows("zap")
    assert list(PARTS) == ["cost", "kills", "regret", "halving", "budget", "priced"]
