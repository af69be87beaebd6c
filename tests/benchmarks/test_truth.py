"""The benchmark that counts how often intervals hold the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from notebooks.benchmarks.truth.counting import Cell, counted, every_cell
from notebooks.benchmarks.truth.figures import figures, too_low, too_wrong
from notebooks.benchmarks.truth.processes import PROCESSES, Process, step_times


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
def test_the_true_mean_of_every_process_is_one(process: Process) -> None:
    settled = replace(process, warm_up=0, drift=0.0)
    rng = np.random.default_rng(0)

    means = [
        step_times(settled, rng, set_ups=2, launches=40, steps=100).mean() for _ in range(40)
    ]

    error = np.std(means) / len(means) ** 0.5
    assert np.mean(means) == pytest.approx(1, abs=4 * error + 0.006)  # exp(sd) has sd**2 / 2


def test_each_cell_is_counted_once() -> None:
    cells = list(every_cell())

    assert len(set(cells)) == len(cells) > 200
    assert all(cell.steps > cell.process.warm_up for cell in cells)


def test_launches_that_differ_are_covered() -> None:
    process = next(each for each in PROCESSES if each.name == "launches 5 %")

    row = counted(Cell(process=process, launches=3, steps=30), 0, repetitions=400)

    assert 0.92 <= row["coverage"] <= 0.995
    assert row["wrong"] == pytest.approx(1 - row["coverage"])
    assert row["width"] == pytest.approx(row["width_of_welch"], rel=0.2)


def test_looks_and_candidates_together_stay_below_five_percent() -> None:
    process = next(each for each in PROCESSES if each.name == "launches 2 %")
    cell = Cell(process=process, launches=6, steps=30, candidates=3, is_live=True)

    row = counted(cell, 1, repetitions=200)

    assert row["wrong"] <= 0.05 + 0.035
    assert row["wrong_live"] <= 0.05 + 0.035


def test_a_cell_that_holds_too_seldom_is_found() -> None:
    row = {
        "process": "independent steps",
        "launches": 3,
        "candidates": 1,
        "ratio": 1.0,
        "repetitions": 500,
        "unsettled": 0.0,
        "coverage": 0.88,
        "wrong": 0.12,
        "wrong_live": None,
        "width": 1.0,
        "width_of_welch": 1.0,
    }
    good = {**row, "coverage": 0.95, "wrong": 0.05}

    assert too_low(row)
    assert too_wrong(row, "wrong")
    assert not too_low(good)
    found = {figure.name: figure.value for figure in figures([row, good])}
    assert found["intervals hold less than 93 %"] == 0.5
