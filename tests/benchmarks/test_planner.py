"""The figures of the planner's benchmark, from runs that were made up, and its notebook."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import papermill
import pytest

from notebooks.benchmarks.planner.cases import (
    DEVICES_S,
    WORKLOADS,
    Case,
    chosen_cases,
    places,
)
from notebooks.benchmarks.planner.figures import (
    accuracy_figures,
    choice_figures,
    control_figure,
    figures_of_rows,
)
from notebooks.benchmarks.planner.measuring import SCRIPT, CaseRun
from notebooks.benchmarks.planner.outcomes import (
    Outcome,
    choices,
    kept_rows,
    outcomes,
    outcomes_of,
)
from notebooks.benchmarks.planner.table import outcomes_table
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.plan import plan
from smtc_lab.planner.workload_hash import workload_hash
from tests.kit.calibrations import calibration, measured

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.calibration.calibration import Calibration

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "bench_planner.ipynb"
RESULTS = NOTEBOOK.parent / "results"
WORKLOAD = replace(WORKLOADS[1], batch_size=100, device_s=0.01)
CASES = [Case(workload=WORKLOAD, place=place) for place in places(2.0)]


def run_of(case: Case, *, error: float = 0.0, data_s: float = 0.2) -> CaseRun:
    """Return a run that takes so much longer than is predicted of it."""
    step_s = predict(calibration(), case.setup).step_time_s.value * (1 + error)
    rounds: tuple[Interval, ...] = (measured(step_s * 0.9), measured(step_s * 1.1))
    return CaseRun(
        case=case, rounds=rounds, resident_s=0.01, loader_s=data_s, delivered_fraction=0.97
    )


def found_of(*errors: float, data_s: float = 0.2) -> list[Outcome]:
    runs = [
        run_of(case, error=error, data_s=data_s)
        for case, error in zip(CASES, errors, strict=False)
    ]
    return outcomes(runs, {"heavy": calibration()})


def value_of(figures: list[object], begin: str) -> float:
    (found,) = [each for each in figures if each.name.startswith(begin)]  # type: ignore[attr-defined]
    value: float = found.value  # type: ignore[attr-defined]
    return value


def test_no_configuration_is_one_that_was_calibrated() -> None:
    cases = chosen_cases(2.0, WORKLOADS)

    assert len(cases) >= 24
    assert len(set(cases)) == len(cases)
    calibrated = {workload.device_s for workload in WORKLOADS}
    assert calibrated.isdisjoint(DEVICES_S)
    assert {case.place.data_cores > 0 for case in cases} == {True, False}
    assert all(case.place.trainer_cores + case.place.data_cores <= 2.0 for case in cases)


def test_few_cases_are_taken_from_every_workload() -> None:
    names = [case.workload.name for case in chosen_cases(2.0, WORKLOADS, most=2)]

    assert names == ["light", "heavy", "light", "heavy"]


def test_an_error_is_of_the_mean_of_the_rounds() -> None:
    figures = accuracy_figures(found_of(0.25, 0.25, 0.25))

    assert value_of(figures, "step time error, median") == pytest.approx(20)
    assert value_of(figures, "step time bias") == pytest.approx(-20)
    assert value_of(figures, "80 % intervals of a launch that hold the mean") == 0


def test_intervals_and_bottlenecks_are_counted() -> None:
    figures = accuracy_figures(found_of(0.0, 0.0, 0.0, 9.0))

    assert value_of(figures, "80 % intervals of a launch that hold the mean") == 0.75
    assert value_of(figures, "bottlenecks named right, 4 beyond") == 1.0


def test_an_interval_is_held_against_each_launch() -> None:
    (one,) = found_of(0.0)
    low, high = one.predicted_s.low, one.predicted_s.high
    rounds = tuple(measured(each) for each in (0.9 * low, low, high, 1.1 * high))
    figures = accuracy_figures([replace(one, run=replace(one.run, rounds=rounds))])

    assert value_of(figures, "80 % intervals that hold a launch, 4 launches, not") == 0.5


def test_a_wrong_bottleneck_counts_and_a_tie_does_not() -> None:
    wrong = found_of(0.0, data_s=0.001)
    tie = found_of(0.0, data_s=0.0105)

    assert [one.is_bottleneck_right for one in wrong] == [False]
    assert [one.is_bottleneck_right for one in tie] == [None]
    assert "WRONG" in outcomes_table(wrong)
    assert "a tie" in outcomes_table(tie)


def test_a_choice_is_as_dear_as_what_was_chosen_really_is() -> None:
    right = choices(found_of(0.0, 0.0, 0.0, 0.0))
    # what is predicted to be cheapest takes ten times as long
    places_chosen = {choice.chosen.place.name for choice in right}
    errors = [9.0 if case.place.name in places_chosen else 0.0 for case in CASES]
    wrong = choices(found_of(*errors))

    assert [choice.regret_fraction for choice in right] == [0.0] * 3
    assert all(choice.regret_fraction > 0.05 for choice in wrong)
    assert value_of(choice_figures(right), "choices at most 5 %") == 1.0
    assert value_of(choice_figures(wrong), "choices at most 5 %") == 0.0


def test_a_data_instance_for_a_slow_device_is_counted() -> None:
    bound = found_of(0.0, 0.0, 0.0, 0.0, data_s=0.001)
    fed = [one for one in bound if one.run.case.place.data_cores > 0]
    dear = measured(9.0)
    wrong = [one if one in fed else replace(one, predicted_s=dear) for one in bound]

    assert value_of(choice_figures(choices(wrong)), "device-bound searches") == 3
    # where every place has one, none was chosen for nothing
    assert value_of(choice_figures(choices(fed)), "device-bound searches") == 0


def test_every_figure_is_made_again_from_the_rows_that_are_kept() -> None:
    found = found_of(0.0, 0.02, -0.3, 0.4)
    rows = json.loads(json.dumps(kept_rows(found)))

    assert outcomes_of(rows) == found
    assert figures_of_rows(rows) == [*accuracy_figures(found), *choice_figures(choices(found))]
    assert rows[3]["measured_s"] == pytest.approx(found[3].run.step_s)
    assert rows[0]["measured_limit"] == "data"
    assert rows[0]["run"]["delivered_fraction"] == 0.97


@pytest.mark.parametrize(
    "name", ["planner.json", "planner_busy.json", "planner_first.json", "planner_idle.json"]
)
def test_the_results_page_says_whether_rows_are_kept_and_its_figures_follow_from_them(
    name: str,
) -> None:
    kept = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    page = (RESULTS / "README.md").read_text(encoding="utf-8")
    rows = kept.get("rows")

    assert ("The raw rows were not kept." in page) == (rows is None)
    if rows is not None:
        values = {figure["name"]: figure["value"] for figure in kept["figures"]}
        for figure in figures_of_rows(rows):
            assert values[figure.name] == pytest.approx(figure.value)


def test_the_negative_control_names_no_data_instance() -> None:
    slow: Calibration = calibration(emulated_device_s=5.0, device_points=())
    slow = slow.model_copy(
        update={
            "device_points": tuple(
                point.model_copy(update={"step_s": measured(5.0, 0.001)})
                for point in calibration().device_points
            )
        }
    )

    figure = control_figure(plan(slow))

    assert (figure.value, figure.holds) == (0, True)


@pytest.mark.notebook
@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("default")
def test_the_notebook_runs_configurations_and_writes_its_figures(tmp_path: Path) -> None:
    light = WORKLOADS[0]
    workload = workload_hash(SCRIPT, light.hyperparameters)
    # measuring one is tested with calibrate(), and takes a dozen launches
    calibration(workload=workload).save(tmp_path / "light.json")

    papermill.execute_notebook(
        str(NOTEBOOK),
        str(tmp_path / "out.ipynb"),
        parameters={
            "workloads": ["light"],
            "seconds": 0.3,
            "rounds": 1,
            "most_cases": 1,
            "least_delivered": 0.0,
            "json_file": "figures.json",
            "pairs_file": "pairs.json",
            "pair_scripts": [],
            "dilations": [],
            "core_counts": [],
            "runs_dir": str(tmp_path),
        },
        cwd=str(tmp_path),
        progress_bar=False,
        kernel_name="python3",
    )

    written = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    values = {figure["name"]: figure["value"] for figure in written["figures"]}
    assert values["configurations"] == len(written["rows"]) == 1
    assert values["step time error, median"] >= 0
    assert "step time error, 90th percentile" in values
    assert "80 % intervals of a launch that hold the mean of the rounds" in values
    assert "data instances named for a device-bound workload" in values
    assert json.loads((tmp_path / "pairs.json").read_text(encoding="utf-8"))["rows"] == []
