"""An emulated comparison that names no number of steps takes as many as fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError
from smtc_lab.launchers.run import Run
from smtc_lab.metrics.cautions.ended_early import ENDED_EARLY
from smtc_lab.spec.emulation import Emulation
from smtc_lab.study.comparison.compare import compare
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.comparison.fitting_steps import (
    TimedLaunch,
    fitting_steps,
    fitting_words,
    timed_launch,
)
from smtc_lab.study.folder import studies_root
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.records import run_records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.watched_run import Progress

    MakeJob = Callable[..., TrainingJob]

OWN_END = QUICK_SCRIPT.replace(
    "not timer.is_done", "not timer.is_done and timer.num_steps < 14"
)
DECLARED = {"cluster": "own@here=local:1", "emulation": Emulation(device_step_time_s=0.001)}


def only_study(root: Path) -> ComparisonRun:
    (path,) = studies_root(root).iterdir()
    return ComparisonRun.open(str(path))


@pytest.mark.parametrize(
    ("around_s", "steps_s", "rounds", "steps"),
    [
        (2.0, [0.5, 0.5], 3, 56),  # (180 - 6 * 2) / (3 * 1)
        (2.0, [0.5, 1.5], 3, 28),
        (60.0, [0.5, 0.5], 3, 10),
    ],
)
def test_launches_take_three_minutes_and_ten_steps_at_least(
    around_s: float, steps_s: list[float], rounds: int, steps: int
) -> None:
    timed = TimedLaunch(steps=10, step_s=0.5, around_s=around_s)

    assert fitting_steps(timed, steps_s, rounds=rounds) == steps


def test_what_is_still_longer_than_ten_minutes_names_what_shortens_it() -> None:
    timed = TimedLaunch(steps=10, step_s=30.0, around_s=5.0)

    told = fitting_words(timed, [30.0, 30.0], rounds=3, steps=10)

    assert "10 steps, the fewest that are compared" in told
    assert "about 30 min here" in told
    assert "smaller instance types" in told
    assert "smaller instance types" not in fitting_words(timed, [30.0], rounds=1, steps=10)


def test_a_step_is_timed_on_the_clock_of_this_machine_behind_the_warm_up() -> None:
    run = run_records([3.0, 1.0, 1.0, *[0.5] * 7], emulation=Emulation(time_dilation=20.0))

    timed = timed_launch(run)

    assert (timed.steps, timed.step_s) == (10, pytest.approx(10.0))


def test_the_rounds_take_the_steps_that_a_launch_before_them_found(
    make_job: MakeJob, root: Path
) -> None:
    seen: list[Progress] = []

    outcome = compare(
        [make_job(OWN_END, **DECLARED)], rounds=1, root=root, progress=seen.append
    )

    study = only_study(root)
    (run,) = outcome.runs
    first, second = study.state.runs
    assert (first.label, first.round) == ("own, to choose the steps", None)
    assert (second.label, second.round) == ("own", 1)
    assert Run.open(first.job_name, root=root).job.max_steps == 10
    assert f"Each launch takes {run.job.max_steps:,} steps, as many as fit" in study.state.note
    assert seen[-1].note == study.state.note
    # its own end comes before, and nobody asked for more
    assert [len(steps) for steps in run.steps.values()] == [14]
    assert ENDED_EARLY not in {each.kind for each in outcome.comparison.findings}


def test_a_script_that_ends_before_is_launched_as_it_is(make_job: MakeJob, root: Path) -> None:
    short = OWN_END.replace("< 14", "< 6")

    outcome = compare([make_job(short, **DECLARED)], rounds=1, root=root)

    assert [run.job.max_steps for run in outcome.runs] == [None]
    assert only_study(root).state.note == ""


def test_a_failure_before_the_rounds_is_told_as_any_other(
    make_job: MakeJob, root: Path
) -> None:
    with pytest.raises(
        RunFailedError,
        match=r"Launch 1 of 4 \(own, to choose the steps\) ended as Failed.*code 3",
    ):
        compare([make_job("raise SystemExit(3)", **DECLARED)], root=root)
