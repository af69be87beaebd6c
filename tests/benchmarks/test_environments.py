from __future__ import annotations

import pytest

from notebooks.benchmarks.environments import ratios


def row(environment: str, number: int, value: float, what: str = "start") -> dict[str, object]:
    return {"what": what, "environment": environment, "round": number, "value": value}


def test_ratios_are_made_within_a_round() -> None:
    rows = [
        row("old", 0, 2.0),
        row("new", 0, 1.0),
        row("new", 1, 9.0),
        row("old", 1, 3.0),
        row("old", 2, 1.0),
        row("new", 0, 7.0, what="end"),
    ]

    assert ratios(rows, "start", "new", "old") == [0.5, 3.0]
    assert ratios(rows, "start", "old", "new") == [2.0, pytest.approx(1 / 3)]
    assert ratios(rows, "end", "new", "old") == []
