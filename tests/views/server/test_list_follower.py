"""The rows of the list, from folders that are written by hand."""

from __future__ import annotations

import json
import math
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.run_summary import summarize
from smtc_lab.spec.emulation import Emulation
from smtc_lab.store.reader import read_run
from smtc_lab.store.state import RunState, write_state
from smtc_lab.store.writer import RecordWriter
from smtc_lab.study.folder import LaunchedRun, StudyFolder, StudyState
from smtc_lab.views.run import listed as listed_run
from smtc_lab.views.server import list_follower
from smtc_lab.views.server.list_follower import ListFollower
from tests.kit.records import STARTED_S, run_records, step_record
from tests.kit.run_folders import set_state, write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.views.live.list_row import Row


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a look take the time that it needs to count all steps."""
    monkeypatch.setattr(list_follower, "_COUNTING_S", math.inf)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def look(follower: ListFollower) -> dict[str, Row]:
    return {row["name"]: row for row in follower.look()}


def write_comparison(runs: Path, name: str, state: StudyState, **jobs: Any) -> Path:
    """Write the folder of a comparison of two set-ups."""
    from dataclasses import asdict

    folder = StudyFolder(runs.parent / "comparisons" / name)
    folder.path.mkdir(parents=True)
    job = run_records([], **jobs).job
    request = {
        "jobs": [job.model_copy(update={"max_steps": 10}).model_dump(mode="json")] * 2,
        "rounds": 3,
        "parity": False,
        "root": str(runs),
        "created": "2026-11-21T10:00:00+00:00",
    }
    folder.request_file.write_text(json.dumps(request), encoding="utf-8")
    folder.state_file.write_text(json.dumps(asdict(state)), encoding="utf-8")
    return folder.path


def test_a_run_that_ended_has_all_its_numbers(runs: Path) -> None:
    times_s = [1.0, *[0.5] * 4, *[0.1] * 30]
    emulation = Emulation(device_step_time_s=0.05)
    write_run_folder(runs, run_records(times_s, emulation=emulation, job_name="a"))

    row = look(ListFollower(runs))["a"]

    assert row == {
        "name": "a",
        "kind": "run",
        "state": "Completed",
        "reason": "",
        "secondary": "",
        "started_s": STARTED_S,
        "ended_s": pytest.approx(STARTED_S + 2.5 + sum(times_s)),
        "cluster": "homogeneous",
        "entry_point": "train.py",
        "usd_per_hour": 3.6,
        "is_billed": False,
        "usd_so_far": pytest.approx(3.6 / 3600 * sum(times_s)),
        "steps": 35,
        "max_steps": None,
        "step_time_s": pytest.approx(0.1),
        "evidence": "emulated",
        "newest_run": None,
        "study": None,
        "launch": "",
        "round": None,
        "made_by": "",
    }


def test_a_price_that_is_not_known_is_none(runs: Path) -> None:
    write_run_folder(runs, run_records([0.2], job_name="a"), usd_per_hour=None)
    write_run_folder(runs, run_records([0.2], job_name="b", state="InProgress"))
    write_run_folder(runs, run_records([], job_name="c", state="Pending"), usd_per_hour=None)
    follower = ListFollower(runs)

    rows = look(follower)

    assert rows["a"]["usd_per_hour"] is None
    assert rows["a"]["usd_so_far"] is None
    assert rows["b"]["usd_per_hour"] == 3.6


def test_a_growing_run_is_followed_to_its_end(runs: Path) -> None:
    folder = write_run_folder(runs, run_records([0.2] * 3, job_name="a", state="InProgress"))
    follower = ListFollower(runs)
    assert look(follower)["a"]["steps"] == 3

    with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
        for step in range(3, 10):
            writer.append(
                step_record(step=step, end_time_s=STARTED_S + 10 + step, step_time_s=1.0)
            )
    assert look(follower)["a"]["steps"] == 10

    set_state(folder, "Stopped", reason="enough")
    row = look(follower)["a"]
    assert (row["state"], row["reason"], row["steps"]) == ("Stopped", "enough", 10)
    assert row["step_time_s"] == summarize(read_run(folder)).mean_step_time_s


def test_a_run_that_failed_before_any_trainer_recorded_is_listed_without_steps(
    runs: Path,
) -> None:
    run = replace(run_records([0.2], job_name="a", state="Failed"), steps={})
    write_run_folder(runs, run)
    follower = ListFollower(runs)
    look(follower)

    row = look(follower)["a"]

    assert (row["state"], row["steps"], row["step_time_s"]) == ("Failed", None, None)


def test_rows_that_did_not_change_are_the_same_objects_and_open_no_file(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        write_run_folder(runs, run_records([0.2], job_name=f"run-{number}"))
    os.utime(runs, (1, 1))  # settled: it is not about to change
    follower = ListFollower(runs)
    before = follower.look()

    def refuse(*_: object) -> None:
        pytest.fail("a file was opened")

    for name in ("read_job", "current_state", "StepColumns"):
        monkeypatch.setattr(listed_run, name, refuse)
    after = follower.look()

    assert [id(row) for row in after] == [id(row) for row in before]


def test_runs_come_and_go(runs: Path) -> None:
    follower = ListFollower(runs)
    assert follower.look() == []
    write_run_folder(runs, run_records([0.2], job_name="a"))
    write_run_folder(runs, run_records([0.2], job_name="b"))
    assert set(look(follower)) == {"a", "b"}

    shutil.rmtree(runs / "a")
    assert set(look(follower)) == {"b"}

    shutil.rmtree(runs)
    assert follower.look() == []


def test_a_folder_that_is_made_again_is_read_again(runs: Path) -> None:
    follower = ListFollower(runs)
    write_run_folder(runs, run_records([0.2], job_name="a"))
    assert look(follower)["a"]["state"] == "Completed"

    (runs / "a").rename(runs.parent / "kept")  # its inode is not used again
    write_run_folder(runs, run_records([0.2], job_name="a", state="Failed"))

    assert look(follower)["a"]["state"] == "Failed"


def test_a_folder_that_is_no_run_yet_is_listed_once_it_is(runs: Path) -> None:
    follower = ListFollower(runs)
    folder = write_run_folder(runs, run_records([0.2], job_name="a"))
    hidden = folder.job_file.rename(folder.path / "job.draft")
    (runs / "notes.txt").touch()
    (runs / "<img src=x>").mkdir()
    assert follower.look() == []

    hidden.rename(folder.job_file)

    assert set(look(follower)) == {"a"}


@pytest.mark.parametrize("name", ["job.json", "state.json"])
@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": 7', "\x00\xff"])
def test_a_damaged_run_says_so_until_it_is_mended(runs: Path, name: str, text: str) -> None:
    folder = write_run_folder(runs, run_records([0.2], job_name="a"))
    write_run_folder(runs, run_records([0.2], job_name="b"))
    whole = (folder.path / name).read_bytes()
    (folder.path / name).write_text(text, encoding="latin-1")
    follower = ListFollower(runs)

    for _ in range(2):
        rows = look(follower)
        assert rows["a"]["state"] == "Damaged"
        assert "cannot be read" in rows["a"]["reason"]
        assert rows["b"]["state"] == "Completed"
    (folder.path / name).write_bytes(whole)
    assert look(follower)["a"]["state"] == "Completed"


def test_damaged_records_leave_the_row(runs: Path) -> None:
    folder = write_run_folder(runs, run_records([0.2], job_name="a"))
    (folder.records / "algo-1-rank0.sqlite").write_bytes(b"no database" * 100)
    (folder.plan_file).write_text("{", encoding="utf-8")

    row = look(ListFollower(runs))["a"]

    assert (row["state"], row["steps"], row["usd_per_hour"]) == ("Completed", None, None)


def test_a_run_whose_supervisor_was_killed_has_failed(runs: Path) -> None:
    folder = write_run_folder(runs, run_records([0.2], job_name="a", state="InProgress"))
    pid = os.getpid()
    alive = RunState(
        state="InProgress", supervisor_pid=pid, supervisor_start_ticks=start_ticks(pid)
    )
    write_state(folder, alive)
    follower = ListFollower(runs)
    assert look(follower)["a"]["state"] == "InProgress"

    write_state(folder, RunState(state="InProgress", supervisor_pid=pid))

    row = look(follower)["a"]
    assert row["state"] == "Failed"
    assert "supervisor of the run was killed" in row["reason"]


def test_a_comparison_tells_the_sum_of_its_launches(runs: Path) -> None:
    for name, state in (("one", "Completed"), ("two", "InProgress")):
        write_run_folder(runs, run_records([0.5] * 4, job_name=name, state=state))
    launched = tuple(
        LaunchedRun(job_name=name, label="homogeneous", round=1) for name in ("one", "two")
    )
    state = StudyState(state="InProgress", started_s=STARTED_S, runs=launched)
    write_comparison(runs, "c-1", state)

    rows = look(ListFollower(runs))

    row = rows["c-1"]
    assert row["kind"] == "comparison"
    assert row["cluster"] == "homogeneous, homogeneous"
    assert (row["steps"], row["max_steps"]) == (8, 60)
    assert row["step_time_s"] is None  # one launch's would stand for all set-ups
    assert row["usd_per_hour"] == 3.6
    assert row["newest_run"] == "two"
    assert row["usd_so_far"] == rows["one"]["usd_so_far"] + rows["two"]["usd_so_far"]


def test_a_comparison_does_not_count_steps_beside_its_rounds(runs: Path) -> None:
    for name in ("one", "parity"):
        write_run_folder(runs, run_records([0.5] * 4, job_name=name))
    launched = (
        LaunchedRun(job_name="one", label="homogeneous", round=1),
        LaunchedRun(job_name="parity", label="eager, parity", round=None),
    )
    state = StudyState(state="Completed", started_s=STARTED_S, runs=launched)
    write_comparison(runs, "c-1", state)

    rows = look(ListFollower(runs))

    row = rows["c-1"]
    assert (row["steps"], row["max_steps"]) == (4, 60)
    assert row["usd_so_far"] == rows["one"]["usd_so_far"] + rows["parity"]["usd_so_far"]
    assert row["newest_run"] == "parity"


def test_a_launch_tells_its_study_and_what_is_launched(runs: Path) -> None:
    for name in ("alone", "one", "parity"):
        write_run_folder(runs, run_records([0.5] * 4, job_name=name))
    launched = (
        LaunchedRun(job_name="one", label="\x1b[1mfed", round=2),
        LaunchedRun(job_name="parity", label="eager, parity", round=None),
    )
    write_comparison(runs, "c-1", StudyState(state="Completed", runs=launched))
    follower = ListFollower(runs)
    look(follower)  # of which a study knows its launches, which then belong to it

    rows = look(follower)

    told = {name: [rows[name][key] for key in ("study", "launch", "round")] for name in rows}
    assert told == {
        "alone": [None, "", None],
        "one": ["c-1", "\ufffd[1mfed", 2],
        "parity": ["c-1", "eager, parity", None],
        "c-1": [None, "", None],
    }
    assert look(follower)["one"] is rows["one"]


def test_a_damaged_comparison_hides_nothing(runs: Path) -> None:
    write_run_folder(runs, run_records([0.2], job_name="a"))
    path = write_comparison(runs, "c-1", StudyState())
    (path / "request.json").write_text("{}", encoding="utf-8")

    rows = look(ListFollower(runs))

    assert rows["a"]["state"] == "Completed"
    assert rows["c-1"]["state"] == "Damaged"
    assert "cannot be read" in rows["c-1"]["reason"]
