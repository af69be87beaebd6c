from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from notebooks.benchmarks.spot import forecasts, kills
from notebooks.benchmarks.spot.faults import KINDS as FAULTS
from notebooks.benchmarks.spot.figures import figures_of
from notebooks.benchmarks.spot.market import MARKET
from notebooks.benchmarks.spot.parts import PARTS, part_rows

if TYPE_CHECKING:
    from pathlib import Path


def figures(*rows: dict[str, Any]) -> dict[str, tuple[float, bool | None]]:
    return {
        " beside ".join(filter(None, (one.name, one.peer))): (one.value, one.holds)
        for one in figures_of(rows)
    }


def test_a_stall_has_a_goal_and_ratios_within_a_round() -> None:
    rows = [
        {"what": "stall", "way": way, "mb": 100, "round": number, "seconds": seconds}
        for number, scale in enumerate((1.0, 2.0, 1.0))
        for way, seconds in (
            ("session.checkpoint", 0.05 * scale),
            ("torch.save and fsync", 0.2 * scale),
        )
    ]

    assert figures(*rows) == {
        "stall of a save of 100 MB: session.checkpoint": (pytest.approx(50.0), True),
        "stall of a save of 100 MB: torch.save and fsync": (pytest.approx(200.0), None),
        "stall of a save of 100 MB beside torch.save and fsync": (pytest.approx(0.25), None),
    }


def test_one_unequal_training_and_one_lost_checkpoint_miss() -> None:
    rows: list[dict[str, Any]] = [
        {"what": "kills", "kind": kind, "kills": 5, "equal": kind != "2 ranks"}
        for kind in kills.KINDS
    ]
    rows += [
        {"what": "fault", "kind": kind, "least": 3, "found": found, "is_whole": True}
        for kind, found in zip(FAULTS, (3, 4, 2, 3), strict=True)
    ]

    found = figures(*rows)

    assert found["bit-equal after kill -9, of 60: all"] == (pytest.approx(11 / 12), False)
    assert found["bit-equal after kill -9, of 5: alone"] == (1.0, True)
    assert found["checkpoints lost or half, of 4: all"] == (1.0, False)
    assert found["checkpoints lost or half, of 1: flipped bit"] == (1.0, False)


def test_runs_under_a_market_are_counted_and_times_are_told_by_interruption() -> None:
    common = {"what": "market", "dilation": 1, "is_inside_before": True, "lasted_s": 20.0}
    rows: list[dict[str, Any]] = [
        {**common, "interruptions": 2, "is_inside": True, "billed_s": 15.0, "waited_s": 5.0},
        {**common, "interruptions": 0, "is_inside": False, "billed_s": 20.0, "waited_s": 0.0},
    ]

    rows.append({**rows[1], "dilation": 2, "is_inside": True})

    found = figures(*({**row, "seen_s": row["billed_s"] - 1.0} for row in rows))

    of_slow = "runs under a market inside 5 to 95 %, of 1: its own times, time dilation 2"
    assert found[of_slow] == (1.0, True)
    assert found["runs under a market inside 5 to 95 %, of 2: its own times"] == (0.5, False)
    name = "time, distance for each interruption, worst of 1 runs beside processes seen"
    assert found[f"billed {name}"] == found[f"waiting {name}"] == (0.5, True)
    assert MARKET.time_scale == 240


def test_costs_and_memory_are_told_beside_what_was_before() -> None:
    cost = {"what": "cost", "round": 0}
    found = figures(
        {**cost, "way": "never", "seconds": 10.0, "saves": 0, "held_s": 0.0},
        {**cost, "way": "as often as pays", "seconds": 10.2, "saves": 3, "held_s": 0.102},
        {"what": "memory", "saves": 100, "bytes": 1000},
        {"what": "memory", "saves": 1000, "bytes": 1010},
    )

    beyond = "steps with saves as often as pays, beyond steps without beside no saves"
    assert found[beyond] == (pytest.approx(2.0), True)
    assert found["of that, held up by saves"] == (pytest.approx(1.0), True)
    assert found["memory after 1,000 saves beside after 100"] == (pytest.approx(1.0), True)


def test_the_formula_and_a_trace_of_a_user_are_laid_beside_played_jobs(tmp_path: Path) -> None:
    ticks = [*[1] * 20, *[0] * 6] * 60
    trace = {"metadata": {"gap_seconds": 600}, "data": ticks}
    (tmp_path / "zone.json").write_text(json.dumps(trace), encoding="utf-8")
    sizes: dict[str, Any] = {"futures": 400, "rounds": 1, "traces": str(tmp_path)}

    rows = part_rows("forecast", kept=tmp_path / "kept", **sizes)

    found = figures(*rows)
    assert found["expected time by formula, worst of four rows beside simulated jobs"][0] < 2
    late = "when the latest 5 % end, by its trace, worst of 1 zones"
    assert found[f"{late} beside jobs played through the trace"][0] < 3
    assert 0 < found["cost of uniform progress, mean of 1 zones beside on-demand"][0] < 1
    (tmp_path / "zone.json").unlink()  # what was measured is not measured again
    assert part_rows("forecast", kept=tmp_path / "kept", **sizes) == rows
    assert not list(forecasts.trace_rows(None, futures=10))


def test_faults_of_each_kind_leave_the_newest_whole_checkpoint() -> None:
    rows = part_rows("faults", faults=len(FAULTS))

    assert [row["kind"] for row in rows] == list(FAULTS)
    assert figures(*rows)[f"checkpoints lost or half, of {len(FAULTS)}: all"] == (0.0, True)


def test_a_part_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no part 'zap'. Choose among stall, place, forecast"):
        part_rows("zap")
    assert list(PARTS) == [
        "stall", "place", "forecast", "cost", "kills", "faults", "memory", "market",
    ]  # fmt: skip
