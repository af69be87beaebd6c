"""What several trainers of one instance have said, read from the run's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.run import Run
from smtc_lab.launchers.supervision.last_words import last_words
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import RunState, write_state

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.launchers.local.launcher import LocalLauncher


def test_lines_say_which_trainer_printed_them(launcher: LocalLauncher, root: Path) -> None:
    folder = RunFolder.create(root, "train-1")
    write_state(folder, RunState(state="Completed"))
    folder.log_file("algo-1", 0).write_text("zero\n", encoding="utf-8")
    folder.log_file("algo-1", 1).write_text("one\n", encoding="utf-8")
    folder.log_file("algo-2").write_text("served\n", encoding="utf-8")
    handle = Handle(launcher="local", job_name="train-1", run_folder=str(folder.path))

    run = Run(launcher, handle)

    assert run.logs() == "algo-1-rank0 | zero\nalgo-1-rank1 | one\nalgo-2 | served"
    assert run.logs("algo-1") == "zero\none"
    assert run.poll(run.poll().cursor).log == ()


def test_the_last_words_are_those_of_the_trainer_that_failed(root: Path) -> None:
    folder = RunFolder.create(root, "train-1")
    folder.log_file("algo-1", 0).write_text("all is well\n", encoding="utf-8")
    folder.log_file("algo-1", 1).write_text("out of memory\n", encoding="utf-8")

    assert last_words(folder, "algo-1", 1) == "The last line of its log: out of memory"
