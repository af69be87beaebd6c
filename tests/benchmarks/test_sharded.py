from __future__ import annotations

import pytest

from notebooks.benchmarks.scaling.sharded import sharded_figures


def test_figures_are_distances_from_the_formula_and_unknown_sockets_are_left_out() -> None:
    rows = [
        {
            "round": number,
            "what": f"FSDP2, {ranks} trainers",
            "recorded_bytes": 103.0,
            "socket_bytes": 141.0 if ranks == 2 else None,
            "formula_bytes": 100.0,
            "gloo_extra_bytes": 50.0,
        }
        for number in range(3)
        for ranks in (2, 4)
    ]

    two, sockets, four = sharded_figures(rows)

    assert (two.value, two.unit, two.holds) == (pytest.approx(3.0), "%", True)
    assert (sockets.value, sockets.holds) == (pytest.approx(6.0), False)
    assert four.name == "FSDP2, 4 trainers: bytes of a rank against the formula, as recorded"
