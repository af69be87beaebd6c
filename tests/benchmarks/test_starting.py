from __future__ import annotations

import pytest

from notebooks.benchmarks.scaling.starting import starting_figures


def test_figures_are_ratios_within_rounds() -> None:
    seconds = {
        "1 trainer": [1.0, 2.0],
        "4 trainers": [1.1, 2.2],
        "torchrun, 4": [2.2, 4.4],
        "1 trainer with torch": [4.0, 4.0],
        "4 trainers with torch": [5.0, 5.0],
        "torchrun, 4 with torch": [10.0, 20.0],
        "step, 2 trainers": [0.1005, 0.201],
        "step, torchrun": [0.1, 0.2],
    }
    rows = [
        {"round": number, "what": what, "seconds": value}
        for what, values in seconds.items()
        for number, value in enumerate(values)
    ]

    over_one, over_torchrun, imported, imported_by_torchrun, step = starting_figures(
        rows, trainers=4
    )

    assert (over_one.value, over_one.holds) == (pytest.approx(1.1), True)
    assert (over_torchrun.value, over_torchrun.peer) == (pytest.approx(0.5), "torchrun")
    assert (imported.value, imported.holds) == (pytest.approx(1.25), False)
    assert imported_by_torchrun.value == pytest.approx(0.375)
    assert (step.value, step.unit, step.holds) == (pytest.approx(0.5), "%", True)
