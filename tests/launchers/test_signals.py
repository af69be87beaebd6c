"""Signals reach the process that was noted, or nobody, and nobody gets an error for it."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.supervision import supervised
from smtc_lab.launchers.supervision.lifeline import send_signal_to
from smtc_lab.machine.processes import start_ticks
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import RunState, write_state
from smtc_lab.study import study_run
from smtc_lab.study.carrier import Carrier
from smtc_lab.study.folder import StudyFolder, StudyRequest, StudyState, write_study_state
from smtc_lab.study.study_run import StudyRun
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """Return a process that has the number of one that has ended, and is to live on."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        assert process.poll() is None, "it was hit"
        process.kill()


def gone() -> tuple[int, int | None]:
    """Return number and start time of a process that has just ended."""
    with subprocess.Popen(["sleep", "600"]) as process:
        noted = process.pid, start_ticks(process.pid)
        process.kill()
    return noted


@pytest.mark.parametrize("is_reused", [True, False])
def test_a_run_that_ends_between_the_look_and_the_signal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    other: subprocess.Popen[bytes],
    is_reused: bool,  # noqa: FBT001  a parameter of the test
) -> None:
    pid, ticks = (other.pid, 1) if is_reused else gone()
    folder = RunFolder.create(tmp_path, "run")
    handle = Handle(launcher="local", job_name="run", run_folder=str(folder.path))
    seen = RunState(state="InProgress", supervisor_pid=pid, supervisor_start_ticks=ticks)
    ended = replace(seen, state="Completed")
    write_state(folder, ended)
    states = [seen, ended] * 2
    monkeypatch.setattr(supervised, "current_state", lambda _: states.pop(0))
    launcher = LocalLauncher(root=tmp_path)

    with pytest.raises(LauncherError, match=r"'run' does not run \(Completed\)"):
        launcher.interrupt(handle)
    assert launcher.stop(handle).state == "Completed"


@pytest.mark.parametrize("is_reused", [True, False])
def test_a_study_that_ends_between_the_look_and_the_signal(
    make_job: Callable[..., TrainingJob],
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    other: subprocess.Popen[bytes],
    is_reused: bool,  # noqa: FBT001  a parameter of the test
) -> None:
    folder = StudyFolder(root.parent / "comparisons" / "study")
    folder.path.mkdir(parents=True)
    request = StudyRequest(jobs=(make_job("pass"),), root=root, created=datetime.now(UTC))
    folder.request_file.write_text(request.to_json(), encoding="utf-8")
    write_study_state(folder, StudyState(state="Completed"))
    pid, ticks = (other.pid, 1) if is_reused else gone()
    monkeypatch.setattr(study_run, "read_process", lambda _: Carrier(pid, ticks))
    states = [StudyState(state="InProgress")]
    ended = StudyState(state="Completed")
    monkeypatch.setattr(
        study_run, "read_study_state", lambda _: states.pop() if states else ended
    )

    study = StudyRun(folder)

    assert study.stop().status == "Completed"


def test_a_signal_reaches_the_process_that_was_noted_and_no_other() -> None:
    with subprocess.Popen(["sleep", "600"]) as process:
        ticks = start_ticks(process.pid)
        assert ticks is not None
        for other in (ticks - 1, None):
            assert send_signal_to(process.pid, other, signal.SIGKILL) is False
        assert send_signal_to(process.pid, ticks, signal.SIGTERM) is True
        assert process.wait(PATIENCE_S) == -signal.SIGTERM
        assert send_signal_to(process.pid, ticks, signal.SIGTERM) is False
