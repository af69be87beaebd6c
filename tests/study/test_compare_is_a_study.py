"""A comparison whose caller waits for it is a study like one that goes on by itself."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import LauncherError, RunFailedError
from smtc_lab.follow.stream import Stream
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare import compare
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from smtc_lab.study.folder import StudyState, read_process, studies_root
from smtc_lab.views.comparison.follower import ComparisonFollower
from smtc_lab.views.run_list import run_rows
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.runs import PATIENCE_S, processes_after

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.study.comparison.compare import ComparisonOutcome
    from smtc_lab.study.watched_run import Progress

    MakeJob = Callable[..., TrainingJob]


def only_study(root: Path) -> ComparisonRun:
    (path,) = studies_root(root).iterdir()
    return ComparisonRun.open(str(path))


@dataclass(frozen=True)
class Compared:
    """An emulated comparison by a launcher and at a price that are given.

    Its caller followed it while it went on.
    """

    root: Path
    jobs: list[TrainingJob]
    outcome: ComparisonOutcome
    seen: list[tuple[StudyState, Progress]]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("compared")
    root, script = folder / "runs", folder / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    jobs = [
        TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(cluster),
            max_steps=20,
            emulation=Emulation(cores_per_vcpu=0.01),
        )
        for cluster in ("a <b>&@x=ml.p3.2xlarge:1", "b@x=ml.c5.9xlarge:1")
    ]
    catalog = Catalog.load().with_prices({"ml.p3.2xlarge": (1.5, "2024-01-02")})
    seen: list[tuple[StudyState, Progress]] = []

    def look(progress: Progress) -> None:
        seen.append((only_study(root).state, progress))

    outcome = compare(
        jobs, rounds=1, on=LocalLauncher(root=root), catalog=catalog, progress=look
    )
    return Compared(root, jobs, outcome, seen)


@pytest.fixture
def endless(make_job: MakeJob) -> TrainingJob:
    return make_job(QUICK_SCRIPT, cluster="x=ml.p3.2xlarge:1", max_steps=1_000_000)


def test_it_has_a_folder_that_is_followed_while_it_goes_on_and_opened_at_its_end(
    compared: Compared,
) -> None:
    study = only_study(compared.root)

    assert {state.state for state, _ in compared.seen} == {"InProgress"}
    assert all(len(state.runs) == progress.launch for state, progress in compared.seen)
    assert {state.launches for state, _ in compared.seen} == {2}
    assert study.status == "Completed"
    assert [(run.label, run.round) for run in study.state.runs] == [("a <b>&", 1), ("b", 1)]
    assert study.comparison == compared.outcome.comparison
    assert study.wait(PATIENCE_S) == compared.outcome
    asked = [job.model_copy(update={"emulation": None}) for job in compared.jobs]
    kept = [job.model_copy(update={"emulation": None}) for job in study.request.jobs]
    assert kept == asked
    dilations = {job.emulation and job.emulation.time_dilation for job in study.request.jobs}
    assert len(dilations) == 1  # all set-ups have the same
    kinds = [row["kind"] for row in run_rows(compared.root, last=20)]
    assert sorted(kinds) == ["comparison", *["run"] * 2]


def test_it_is_read_again_as_it_was_written(compared: Compared) -> None:
    written = only_study(compared.root).result_json

    assert written is not None
    assert Comparison.from_json(written) == compared.outcome.comparison


def test_the_json_has_the_documented_keys(compared: Compared) -> None:
    result = json.loads(compared.outcome.comparison.to_json())

    assert [cluster["name"] for cluster in result["clusters"]] == ["a <b>&", "b"]
    for cluster in result["clusters"]:
        assert {
            "name",
            "instance_groups",
            "usd_per_hour",
            "steps",
            "step_time_s",
            "usd_per_1000_steps",
            "utilization",
            "cpu_delivered_fraction",
        } <= set(cluster)
        assert {"mean", "low", "high", "level", "evidence"} <= set(cluster["step_time_s"])
        assert cluster["step_time_s"]["spread"] == "steps"
        assert cluster["cpu_quota_mechanism"] != "none"
        assert cluster["instance_groups"][0]["cpu_quota_cores"] > 0
    assert result["schema_version"] == 1
    assert result["evidence"] == "emulated"


def test_one_launch_of_each_claims_nothing(compared: Compared) -> None:
    verdict = compared.outcome.comparison.verdict

    assert "no difference is claimed" in verdict
    assert "faster" not in verdict
    assert "cheaper" not in verdict


def test_it_lies_beside_the_runs_of_a_given_launcher_and_tells_its_prices(
    compared: Compared,
) -> None:
    study = only_study(compared.root)
    follower = ComparisonFollower(study, Stream(lambda *_: None))

    assert follower.prices == [1.5, 1.836]
    assert follower.comparison == compared.outcome.comparison
    assert compared.outcome.comparison.clusters[0].usd_per_hour == 1.5


def test_another_may_stop_it_and_its_caller_lives_on(endless: TrainingJob, root: Path) -> None:
    waited: list[str] = []
    stopped: list[str] = []
    stoppers: list[Thread] = []

    def stop_it(progress: Progress) -> None:
        if progress.steps > 0 and not stoppers:
            study = only_study(root)
            waited.append(study._await_process(0.01).state)  # too short
            stoppers.append(Thread(target=lambda: stopped.append(study.stop().status)))
            stoppers[0].start()

    with pytest.raises(RunFailedError, match=r"Launch 1 of 3 \(homogeneous\) was stopped"):
        compare([endless], root=root, progress=stop_it)
    stoppers[0].join(PATIENCE_S)

    assert (waited, stopped) == (["InProgress"], ["Stopped"])
    study = only_study(root)
    assert study.state.reason == "The comparison was stopped by its user."
    process = read_process(study.folder)
    assert process is not None
    assert (process.pid, process.start_ticks) == (os.getpid(), start_ticks(os.getpid()))
    assert [processes_after(run.folder.path) for run in study.runs] == [{}]
    assert study.stop().status == "Stopped"


def test_a_fault_of_who_is_told_ends_it_with_that_reason(
    endless: TrainingJob, root: Path
) -> None:
    def fault(progress: Progress) -> None:
        raise ZeroDivisionError(f"at {progress.launch}")

    with pytest.raises(ZeroDivisionError):
        compare([endless], root=root, progress=fault)

    state = only_study(root).state
    assert (state.state, state.reason) == ("Failed", "ZeroDivisionError: at 1.")


def test_without_a_place_for_its_folder_nothing_is_started(
    endless: TrainingJob, root: Path
) -> None:
    studies_root(root).write_text("", encoding="utf-8")

    with pytest.raises(LauncherError, match=r"The comparison 'train-.*' was not started"):
        compare([endless], root=root)

    assert not root.exists()
