"""A comparison whose caller waits for it is a study like one that goes on by itself."""

from __future__ import annotations

import os
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import LauncherError, RunFailedError
from smtc_lab.follow.stream import Stream
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.study.comparison.compare import compare
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.folder import StudyState, read_process, studies_root
from smtc_lab.views.comparison.follower import ComparisonFollower
from smtc_lab.views.run_list import run_rows
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.runs import processes_after

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.watched_run import Progress

    MakeJob = Callable[..., TrainingJob]


def only_study(root: Path) -> ComparisonRun:
    (path,) = studies_root(root).iterdir()
    return ComparisonRun.open(str(path))


@pytest.fixture
def jobs(make_job: MakeJob) -> list[TrainingJob]:
    names = ("a <b>&", "b")
    return [make_job(QUICK_SCRIPT, cluster=f"{name}@x=local:1", max_steps=15) for name in names]


@pytest.fixture
def endless(make_job: MakeJob) -> TrainingJob:
    return make_job(QUICK_SCRIPT, cluster="x=ml.p3.2xlarge:1", max_steps=1_000_000)


def test_it_has_a_folder_that_is_followed_while_it_goes_on_and_opened_at_its_end(
    jobs: list[TrainingJob], root: Path
) -> None:
    seen: list[tuple[StudyState, Progress]] = []

    def look(progress: Progress) -> None:
        seen.append((only_study(root).state, progress))

    outcome = compare(jobs, rounds=2, root=root, progress=look)

    study = only_study(root)
    assert {state.state for state, _ in seen} == {"InProgress"}
    assert all(len(state.runs) == progress.launch for state, progress in seen)
    assert {state.launches for state, _ in seen} == {4}
    assert study.status == "Completed"
    assert [(run.label, run.round) for run in study.state.runs] == [
        ("a <b>&", 1),
        ("b", 1),
        ("b", 2),
        ("a <b>&", 2),
    ]
    assert study.comparison == outcome.comparison
    assert study.wait(10) == outcome
    assert study.request.jobs == tuple(jobs)
    kinds = [row["kind"] for row in run_rows(root, last=20)]
    assert sorted(kinds) == ["comparison", *["run"] * 4]


def test_another_may_stop_it_and_its_caller_lives_on(endless: TrainingJob, root: Path) -> None:
    stopped: list[str] = []
    stoppers: list[Thread] = []

    def stop_it(progress: Progress) -> None:
        if progress.steps > 0 and not stoppers:
            study = only_study(root)
            stoppers.append(Thread(target=lambda: stopped.append(study.stop().status)))
            stoppers[0].start()

    with pytest.raises(RunFailedError, match=r"Launch 1 of 3 \(homogeneous\) was stopped"):
        compare([endless], root=root, progress=stop_it)
    stoppers[0].join(30)

    assert stopped == ["Stopped"]
    study = only_study(root)
    assert study.state.reason == "The comparison was stopped by its user."
    process = read_process(study.folder)
    assert process is not None
    assert (process.pid, process.start_ticks) == (os.getpid(), start_ticks(os.getpid()))
    assert [processes_after(run.folder.path) for run in study.runs] == [{}]
    assert study.stop().status == "Stopped"


def test_waiting_for_it_too_short_says_so(endless: TrainingJob, root: Path) -> None:
    told: list[str] = []

    def look(progress: Progress) -> None:
        if progress.steps > 0:
            state = only_study(root)._await_process(0.01)
            told.append(state.state)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare([endless], root=root, progress=look)

    assert told == ["InProgress"]
    assert only_study(root).status == "Stopped"


def test_why_it_failed_is_kept(make_job: MakeJob, root: Path) -> None:
    job = make_job("raise SystemExit(3)")

    with pytest.raises(RunFailedError) as failed:
        compare([job], root=root)

    study = only_study(root)
    assert (study.status, study.state.reason) == ("Failed", str(failed.value))
    assert study.comparison is None


def test_a_fault_of_who_is_told_ends_it_with_that_reason(
    endless: TrainingJob, root: Path
) -> None:
    def fault(progress: Progress) -> None:
        raise ZeroDivisionError(f"at {progress.launch}")

    with pytest.raises(ZeroDivisionError):
        compare([endless], root=root, progress=fault)

    state = only_study(root).state
    assert (state.state, state.reason) == ("Failed", "ZeroDivisionError: at 1.")


def test_it_lies_beside_the_runs_of_a_given_launcher_and_tells_its_prices(
    make_job: MakeJob, tmp_path: Path
) -> None:
    root = tmp_path / "elsewhere" / "runs"
    catalog = Catalog.load().with_prices({"ml.p3.2xlarge": (1.5, "2024-01-02")})
    job = make_job(QUICK_SCRIPT, cluster="x=ml.p3.2xlarge:1", max_steps=15)

    outcome = compare([job], rounds=1, on=LocalLauncher(root=root), catalog=catalog)

    study = only_study(root)
    follower = ComparisonFollower(study, Stream(lambda *_: None))
    assert follower.prices == [1.5]
    assert follower.comparison == outcome.comparison
    assert outcome.comparison.clusters[0].usd_per_hour == 1.5


def test_without_a_place_for_its_folder_nothing_is_started(
    jobs: list[TrainingJob], root: Path
) -> None:
    studies_root(root).write_text("", encoding="utf-8")

    with pytest.raises(LauncherError, match=r"The comparison 'train-.*' was not started"):
        compare(jobs, root=root)

    assert not root.exists()


def test_it_is_read_again_as_it_was_written(jobs: list[TrainingJob], root: Path) -> None:
    outcome = compare(jobs, rounds=1, root=root)

    written = only_study(root).result_json

    assert written is not None
    assert Comparison.from_json(written) == outcome.comparison
