"""The run monitor: its traits and its messages, over real and written runs."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.errors import LauncherError, StoreError
from smtc_lab.follow.run_follower import RunFollower
from smtc_lab.launchers.run import Run, launch
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.writer import RecordWriter
from smtc_lab.views.widgets.run_monitor import RunMonitor
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.records import run_records, step_record
from tests.kit.run_folders import opened, set_state, write_run_folder
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], list[bytes]]]:
    messages: list[tuple[dict[str, Any], list[bytes]]] = []
    monkeypatch.setattr(
        RunMonitor, "send", lambda _self, content, buffers: messages.append((content, buffers))
    )
    return messages


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Run]:
    script = tmp_path / "train.py"
    script.write_text(QUICK_SCRIPT, encoding="utf-8")
    job = TrainingJob(
        entry_point=str(script), cluster=Cluster.parse("here=local:1"), max_steps=100_000
    )
    run = launch(job, root=tmp_path / "runs")
    yield run
    run.stop()


def test_a_run_that_nobody_predicted_is_shown_without_the_model(tmp_path: Path) -> None:
    folder = write_run_folder(tmp_path, run_records([0.5] * 30))
    opened(folder)
    code = (
        "import sys; from smtc_lab.views.widgets.run_monitor import RunMonitor;"
        f"RunMonitor({str(folder.path)!r}).close();"
        "print(*[name for name in sys.modules if name.startswith('smtc_lab.planner.model')])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == []


def from_browser(monitor: RunMonitor, message: object) -> None:
    monitor._handle_custom_msg(message, [])


def rows_of(
    sent: list[tuple[dict[str, Any], list[bytes]]], table: str
) -> list[np.ndarray[Any, Any]]:
    return [
        np.frombuffer(buffers[0]).reshape(len(content["columns"]), -1)
        for content, buffers in sent
        if content["table"] == table
    ]


def test_a_run_is_watched_until_it_is_stopped_from_the_browser_and_outlives_a_closed_view(
    running: Run, sent: list[tuple[dict[str, Any], list[bytes]]]
) -> None:
    monitor = RunMonitor(running)
    first = dict(monitor.info)
    wait_until(lambda: rows_of(sent, "steps"), what="a first step")
    wait_until(lambda: monitor.log["lines"], what="a first line")
    closed = RunMonitor(running)
    closed.close()
    assert closed.wait(30)
    assert not running.state.is_terminal

    from_browser(monitor, {"type": "stop"})

    assert monitor.wait(PATIENCE_S)
    assert first["state"] in {"Pending", "InProgress"}
    assert not first["ended"]
    assert monitor.ended
    assert monitor.info["state"] == "Stopped"
    assert monitor.info["ended"]
    assert monitor.log["lines"] == [["algo-1", "begun"]]
    assert monitor.info["steps"] > 0
    monitor.close()


def test_every_step_of_a_growing_run_is_sent_once(
    tmp_path: Path, sent: list[tuple[dict[str, Any], list[bytes]]]
) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2] * 3, state="InProgress"))
    monitor = RunMonitor(opened(folder))
    with RecordWriter(folder.records / "algo-1-rank0.sqlite") as writer:
        for step in range(3, 500):
            writer.append(step_record(step=step))
    set_state(folder, "Completed")
    monitor.wait(PATIENCE_S)

    steps: dict[int, float] = {}
    for content, buffers in sent:
        if content["table"] == "steps":
            rows = np.frombuffer(buffers[0]).reshape(len(content["columns"]), -1)
            if content["type"] == "rows":
                assert content["first"] == len(steps)
            steps |= dict(enumerate(rows[0], start=content["first"]))
    assert steps == {step: step for step in range(500)}


def test_a_resync_sends_all_rows_again(
    tmp_path: Path, sent: list[tuple[dict[str, Any], list[bytes]]]
) -> None:
    monitor = RunMonitor(opened(write_run_folder(tmp_path, run_records([0.2] * 7))))
    monitor.wait(PATIENCE_S)
    sent.clear()

    from_browser(monitor, {"type": "resync", "table": "steps"})

    assert sent[0][0]["type"] == "reset"
    assert rows_of(sent, "steps")[0].shape[1] == 7


def test_a_browser_may_ask_for_rows_in_detail(
    tmp_path: Path, sent: list[tuple[dict[str, Any], list[bytes]]]
) -> None:
    monitor = RunMonitor(opened(write_run_folder(tmp_path, run_records([0.2] * 7))))
    monitor.wait(PATIENCE_S)
    sent.clear()

    from_browser(monitor, {"type": "read", "table": "steps", "first": 2, "end": 4, "most": 10})

    assert sent[0][0]["type"] == "part"
    assert rows_of(sent, "steps")[0][0].tolist() == [2, 3]


@pytest.mark.parametrize(
    "message",
    [
        None,
        "stop",
        {"type": "read", "table": "steps", "first": -1, "end": "x", "most": None},
        {"type": "read", "table": "../state", "first": 0, "end": 1, "most": 1},
        {"type": "unheard of"},
    ],
)
def test_nonsense_from_a_browser_is_left_alone(
    tmp_path: Path, sent: list[tuple[dict[str, Any], list[bytes]]], message: object
) -> None:
    monitor = RunMonitor(opened(write_run_folder(tmp_path, run_records([0.2]))))
    monitor.wait(PATIENCE_S)
    sent.clear()

    from_browser(monitor, message)

    assert sent == []


def test_a_stop_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = RunMonitor(opened(write_run_folder(tmp_path, run_records([0.2]))))

    def refuse(_run: Run) -> Run:
        raise LauncherError("No right to signal process 7. Ask its owner.")

    monkeypatch.setattr(Run, "stop", refuse)
    from_browser(monitor, {"type": "stop"})

    wait_until(lambda: monitor.stop_problem, what="the problem")
    assert monitor.stop_problem == (
        "The run could not be stopped: No right to signal process 7. Ask its owner."
    )


def test_an_interruption_is_asked_of_the_run_and_told_where_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor = RunMonitor(opened(write_run_folder(tmp_path, run_records([0.2]))))

    from_browser(monitor, {"type": "interrupt"})
    wait_until(lambda: monitor.interrupt_problem, what="the problem")
    assert monitor.interrupt_problem.startswith("The run could not be interrupted: ")

    asked: list[str] = []
    monkeypatch.setattr(Run, "interrupt", lambda run: asked.append(run.job_name))
    from_browser(monitor, {"type": "interrupt"})

    wait_until(lambda: asked, what="the interruption")
    assert asked == [monitor.run.job_name]
    assert monitor.interrupt_problem == ""


def test_a_run_of_no_name_is_refused_with_those_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path))

    with pytest.raises(StoreError, match="There is no run named 'gone'"):
        RunMonitor("gone")


def test_a_defect_of_ours_is_told_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_run_folder(tmp_path, run_records([0.2]))
    looks = RunFollower.look

    def look(follower: RunFollower) -> bool:
        if follower.folder.path != folder.path:  # a view of another test has its last look
            return looks(follower)
        raise KeyError("no\u202esuch column")

    monkeypatch.setattr(RunFollower, "look", look)
    monitor = RunMonitor(opened(folder))
    wait_until(lambda: monitor.info["problem"], what="the problem")

    assert "a defect of smtc_lab (KeyError: 'no\\u202esuch column')" in monitor.info["problem"]
    assert [record.exc_info is not None for record in caplog.records] == [True]
    monitor.close()


def test_the_traits_are_not_for_the_browser_to_write(tmp_path: Path) -> None:
    import traitlets

    monitor = RunMonitor(opened(write_run_folder(tmp_path, run_records([0.2]))))

    with pytest.raises(traitlets.TraitError, match="read-only"):
        monitor.info = {}
