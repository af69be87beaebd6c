from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import StoreError
from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.records.attempts import Attempt
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import (
    OUTLIVES_SUPERVISOR,
    RunState,
    current_state,
    read_state,
    replace_file,
    write_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def running(pid: int) -> RunState:
    return RunState(
        state="InProgress",
        started_s=1.0,
        supervisor_pid=pid,
        supervisor_start_ticks=start_ticks(pid),
        exit_codes={"algo-1": None},
        facts={"num_cores": 2.0},
    )


@pytest.fixture
def dead_supervisor() -> RunState:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    state = running(process.pid)
    process.kill()
    process.communicate()
    return state


def test_a_run_that_never_started_is_pending(run_folder: RunFolder) -> None:
    assert current_state(run_folder) == RunState(state="Pending")


def test_a_run_that_was_lost_ended_when_it_wrote_last_not_when_somebody_looks(
    run_folder: RunFolder, dead_supervisor: RunState
) -> None:
    now_s = time.time()
    attempts = (Attempt(started_s=now_s - 7200),)
    write_state(run_folder, replace(dead_supervisor, started_s=now_s - 7200, attempts=attempts))
    log = run_folder.logs / "algo-1.log"
    log.write_text("step 1\n", encoding="utf-8")
    os.utime(log, (now_s, now_s - 3600))
    (run_folder.logs / "empty.log").touch()
    (run_folder.records / "run.sqlite-shm").write_text("a reader's", encoding="utf-8")

    lost = current_state(run_folder)

    assert lost.state == "Failed"
    assert lost.ended_s == pytest.approx(now_s - 3600, abs=0.01)
    # so that the time until somebody resumes it is not billed
    assert lost.attempts[-1].ended_s == lost.ended_s
    assert read_state(run_folder) == lost


def test_a_state_goes_to_disk_and_back_private(run_folder: RunFolder) -> None:
    state = replace(running(os.getpid()), reason="Ein Grund: größer.")

    write_state(run_folder, state)

    assert read_state(run_folder) == state
    assert run_folder.state_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("state", ["Completed", "Failed", "Stopped"])
def test_a_terminal_state_stays(run_folder: RunFolder, state: str) -> None:
    written = RunState(state=state, supervisor_pid=2**22 + 1, supervisor_start_ticks=1)
    write_state(run_folder, written)

    assert written.is_terminal
    assert current_state(run_folder) == written


@pytest.mark.parametrize("state", ["Pending", "InProgress", "Stopping"])
def test_a_run_goes_on_in_every_other_state(state: str) -> None:
    assert not RunState(state=state).is_terminal


def test_a_living_supervisor_is_believed(run_folder: RunFolder) -> None:
    write_state(run_folder, running(os.getpid()))

    assert current_state(run_folder).state == "InProgress"


def test_a_dead_supervisor_without_a_last_word_is_mended(
    run_folder: RunFolder, dead_supervisor: RunState
) -> None:
    write_state(run_folder, dead_supervisor)

    state = current_state(run_folder)

    assert state.state == "Failed"
    assert "supervisor of the run was killed" in state.reason
    assert "Start the job again" in state.reason
    assert state.ended_s is not None
    assert state.exit_codes == {"algo-1": None}
    assert read_state(run_folder) == state


def test_instances_that_need_no_supervisor_go_on_without_it(
    run_folder: RunFolder, dead_supervisor: RunState
) -> None:
    facts = {**dead_supervisor.facts, OUTLIVES_SUPERVISOR: True}
    written = replace(dead_supervisor, facts=facts)
    write_state(run_folder, written)

    state = current_state(run_folder)

    assert state.state == "InProgress"
    assert state.ended_s is None
    assert "its instances go on" in state.reason
    assert read_state(run_folder) == written


def test_another_process_with_the_supervisors_number_is_not_taken_for_it(
    run_folder: RunFolder,
) -> None:
    write_state(run_folder, replace(running(os.getpid()), supervisor_start_ticks=1))

    assert current_state(run_folder).state == "Failed"


def test_a_dead_supervisor_is_seen_where_nothing_can_be_written(
    run_folder: RunFolder, dead_supervisor: RunState, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_state(run_folder, dead_supervisor)

    def refuse(path: Path, text: str) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path), text)

    monkeypatch.setattr("smtc_lab.store.state.replace_file", refuse)

    assert current_state(run_folder).state == "Failed"


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "null", "7", '{"state": "InProgress", "exit_codes": ', "\xff"]
)
def test_a_damaged_state_says_what_is_left(run_folder: RunFolder, damage: str) -> None:
    run_folder.state_file.write_bytes(damage.encode("latin-1"))

    with pytest.raises(StoreError, match=r"state of run 'train-1' cannot be read.*other files"):
        current_state(run_folder)


def test_fields_of_a_later_version_are_passed_over(run_folder: RunFolder) -> None:
    wire = {"state": "Completed", "mood": "good"}
    run_folder.state_file.write_text(json.dumps(wire), encoding="utf-8")

    assert read_state(run_folder) == RunState(state="Completed")


def test_threads_that_replace_a_file_at_once_do_not_mix_their_texts(tmp_path: Path) -> None:
    path, texts = tmp_path / "state.json", ["a" * 10, "b" * 400]

    def write(text: str) -> None:
        for _ in range(100):
            replace_file(path, text)
            assert path.read_text(encoding="utf-8") in texts

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, texts))

    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]


def test_a_killed_process_leaves_its_draft_for_an_hour(tmp_path: Path) -> None:
    path, now_s = tmp_path / "state.json", time.time()
    for name, age_s in {
        ".state.json.1.draft": 4000,
        ".state.json.2.draft": 1000,
        ".plan.json.3.draft": 4000,
        ".state.json.4": 4000,
    }.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now_s, now_s - age_s))

    replace_file(path, "{}")

    left = {".plan.json.3.draft", ".state.json.2.draft", ".state.json.4", "state.json"}
    assert {each.name for each in tmp_path.iterdir()} == left


def test_a_new_file_is_known_to_the_disk_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        synced.append(str((tmp_path / "state.json").exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    replace_file(tmp_path / "state.json", "{}")

    draft, *others = synced
    assert draft.startswith(str(tmp_path / ".state.json."))
    assert others == ["False", str(tmp_path), "True"]


def test_a_reader_sees_the_old_text_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    texts = [letter * 100_000 for letter in "ab"]
    replace_file(path, texts[0])
    done = threading.Event()

    def keep_writing() -> None:
        for _ in range(50):
            for text in texts:
                replace_file(path, text)
        done.set()

    writer = threading.Thread(target=keep_writing)
    writer.start()
    seen = set()
    while not done.is_set():
        seen.add(path.read_text(encoding="utf-8"))
    writer.join()

    assert seen <= set(texts)
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_takes_the_ballast_for_the_last_word(
    small_disk: Path, fill: Callable[[Path], Path]
) -> None:
    folder = RunFolder.create(small_disk, "train-1")
    write_state(folder, RunState(state="InProgress"))
    fill(small_disk)

    write_state(folder, RunState(state="Failed", reason="The disk is full." * 200))

    assert read_state(folder).state == "Failed"
    assert not folder.ballast.exists()


def test_a_disk_that_stays_full_leaves_the_old_state_whole(
    small_disk: Path, fill: Callable[[Path], Path]
) -> None:
    folder = RunFolder.create(small_disk, "train-1")
    write_state(folder, RunState(state="InProgress"))
    folder.ballast.unlink()
    fill(small_disk)

    with pytest.raises(OSError, match="No space left on device"):
        write_state(folder, RunState(state="Failed", reason="x" * 10_000))
    assert read_state(folder).state == "InProgress"
    assert not list(folder.path.glob(".state.json.*"))
