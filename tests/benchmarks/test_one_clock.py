"""What plan, comparison and arithmetic say of one cluster, from rows that were made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from notebooks.benchmarks.planner.aws_row import aws_figure, aws_speedup
from notebooks.benchmarks.planner.emulated import emulated_figures
from notebooks.benchmarks.planner.paired import ALTERNATIVES, SCRIPTS
from notebooks.benchmarks.planner.sides import (
    judged_pairs,
    launches_table,
    pair_figures,
    pairs_table,
)
from notebooks.benchmarks.truth.cores import cores_figures, cores_line
from notebooks.benchmarks.truth.known_jobs import ALONE, KnownScript, arithmetic_s
from notebooks.benchmarks.truth.known_truth import CASES, known_figures, known_table
from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.cpu_speed import relative_cpu_speed

if TYPE_CHECKING:
    from notebooks.benchmarks.harness.figure import BenchFigure

KEPT = Path(__file__).parents[2] / "notebooks" / "results" / "planner_pairs.json"
FED = "fed@g=ml.p3.2xlarge:1,d=ml.c5.2xlarge:1"
C5 = relative_cpu_speed("ml.c5.2xlarge", {}).value


def ends(mean: float, half: float = 0.1) -> dict[str, Any]:
    return {"mean": mean, "low": mean - half, "high": mean + half, "spread": "launches"}


def row(
    *, planned: tuple[float, float], compared: tuple[float, float], error: float = 0.0
) -> dict[str, Any]:
    """Return one pair as speed-up and saving, and a launch that is predicted so far off."""
    pair = {
        "cluster": "fed",
        "unit": "step",
        "faster": ends(compared[0]),
        "saves": ends(compared[1]),
        "planned_faster": ends(planned[0]),
        "planned_saves": ends(planned[1]),
        "verdict": "",
    }
    launch = {
        "cluster": "fed",
        "measured_s": 0.01,
        "predicted_s": 0.01 * (1 + error),
        "low_s": 0.0095 * (1 + error),
        "high_s": 0.0105 * (1 + error),
        "bottleneck": "cpu",
    }
    return {"what": "pairs", "script": "made up", "pairs": [pair], "launches": [launch]}


def value_of(figures: list[BenchFigure], begin: str) -> float:
    (found,) = [each for each in figures if each.name.startswith(begin)]
    return found.value


def test_sides_agree_where_both_are_told() -> None:
    agreeing = row(planned=(2.0, 0.4), compared=(1.8, 0.3))
    turned = row(planned=(2.0, 0.4), compared=(1.8, -0.3))
    untold = row(planned=(1.05, 0.4), compared=(0.5, 0.05))

    judged = [pair.judged for pair in judged_pairs([agreeing, turned, untold])]
    figures = pair_figures([agreeing, turned, untold])

    assert judged == [[True, True], [True, False], []]
    assert value_of(figures, "pairs whose plan and comparison tell the same, 4 sides") == 2
    assert pairs_table([agreeing, turned]).count("DIFFER") == 1


def test_a_plan_tells_no_side_of_what_differs_by_nothing() -> None:
    same = row(planned=(1.0, 0.0), compared=(1.5, -0.3))
    same["pairs"][0]["planned_faster"] = {"mean": 1.0, "low": 1.0 + 1e-9, "high": 1.2}
    same["pairs"][0]["planned_saves"] = {"mean": -0.1, "low": -0.3, "high": -1e-9}

    assert judged_pairs([same])[0].planned == (0, 0)


def test_one_launch_is_on_no_side() -> None:
    single = row(planned=(2.0, 0.4), compared=(0.5, -0.4))
    for name in ("faster", "saves"):
        single["pairs"][0][name]["spread"] = "steps"

    assert judged_pairs([single])[0].judged == []


def test_errors_and_intervals_are_of_launches() -> None:
    rows = [
        row(planned=(2.0, 0.4), compared=(2.0, 0.4), error=error)
        for error in (0.02, -0.04, 0.2)
    ]
    figures = pair_figures(rows)

    assert value_of(figures, "emulated step time error") == pytest.approx(4)
    assert value_of(figures, "emulated step time bias") == pytest.approx(2)
    assert value_of(figures, "80 % intervals that hold") == pytest.approx(2 / 3)
    assert "+20.0%" in launches_table(rows)


def test_twenty_pairs_have_none_two_and_all_data_workers() -> None:
    assert len(SCRIPTS) * sum(len(each.clusters) for each in ALTERNATIVES) == 20
    assert {script.workers for script in SCRIPTS} == {0, 2, 8}


@pytest.mark.parametrize(
    ("workers", "device_s", "cluster", "step_s"),
    [
        (0, 0.005, ALONE, 0.005 + 0.08 / 1.6),
        (1, 0.005, ALONE, 0.08 / 1.6),
        (2, 0.005, ALONE, 0.04 / 1.6),
        (6, 0.005, ALONE, 0.08 / (4 * 1.6 + 2 * 0.4)),
        (2, 0.05, ALONE, 0.05),
        (16, 0.005, ALONE, 0.01),
        (0, 0.001, FED, 0.08 / (8 * C5)),
        (2, 0.001, FED, 0.08 / (2 * 1.6 + 8 * C5)),
    ],
)
def test_arithmetic_says_what_a_step_takes(
    workers: int, device_s: float, cluster: str, step_s: float
) -> None:
    script = KnownScript(name="", workers=workers, cpu_ms=10.0, batch_size=4, device_s=device_s)

    found = arithmetic_s(script, cluster, Catalog.load(), speed=2.0)

    assert found == pytest.approx(step_s)


def test_a_network_bounds_what_a_data_group_delivers() -> None:
    script = KnownScript(
        name="",
        workers=8,
        cpu_ms=10.0,
        batch_size=4,
        device_s=0.001,
        sample_bytes=2_500_000,
    )

    found = arithmetic_s(script, FED, Catalog.load(), speed=2.0)

    # ten megabytes at 2.5 Gbit/s take 32 ms, and the trainer's own vCPUs 10 ms
    assert found == pytest.approx(1 / (1 / 0.032 + 1 / 0.01))


def test_the_farthest_launch_from_arithmetic_counts() -> None:
    rows = [
        {
            "what": "known",
            "script": "made up",
            "dilation": 8.0,
            "measured_s": measured_s,
            "arithmetic_s": 0.01,
        }
        for measured_s in (0.0101, 0.0088)
    ]

    figures = known_figures(rows)

    assert value_of(figures, "known cost, 2 launches") == pytest.approx(12)
    assert "-12.0 %" in known_table(rows)
    assert len({case.script.name for case in CASES}) == len(CASES)


def test_intervals_of_one_core_and_two_are_laid_beside_each_other() -> None:
    one, two = (
        {
            "what": "cores",
            "cores": cores,
            "dilation": 16.0 / cores,
            "step_time_s": [ends(1.0), ends(fed)],
            "speedup": ends(1.0 / fed),
        }
        for cores, fed in ((1, 0.5), (2, 0.8))
    )

    assert value_of(cores_figures([one, two]), "intervals that overlap") == 1
    assert cores_figures([one]) == []
    assert cores_line(one).startswith("1 cores, D 16.0: 1 (0.9 to 1.1)")


def test_the_published_pytorch_row_follows_from_its_homogeneous_one() -> None:
    assert aws_speedup() == pytest.approx(6.23, abs=0.02)
    assert aws_figure().holds
    assert emulated_figures([]) == [aws_figure()]


def test_the_kept_figures_follow_from_the_kept_rows() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))

    figures = emulated_figures(kept["rows"])

    assert [(each.name, each.value) for each in figures] == [
        (each["name"], pytest.approx(each["value"])) for each in kept["figures"]
    ]
