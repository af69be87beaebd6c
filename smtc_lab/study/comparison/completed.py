"""Whether a launch of a comparison has steps to compare, or what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import RunFailedError
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.store.said import and_then
from smtc_lab.study.new_files import new_files_line

if TYPE_CHECKING:
    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.study.watched_run import LaunchWatch

_NO_STEP = (
    "made no step that could be timed. Steps are seen where the script itself, not a process "
    "that it starts, steps an optimizer of torch's or calls backward(). Let it do so, or loop "
    "over smtc_lab.Session().steps(loader)."
)
"""What is wrong with a launch that completed, and what to do."""

NO_STEP_AFTER_OTHERS = (
    "made no step, though another launch made some: the script may have found what an earlier "
    "launch left. Use working_dir='own' (--working-dir own)."
)
"""What is wrong with one that worked where others had, and what to do."""


def steps_or_problem(run: Run, *, after_others: bool) -> RunRecords | str:
    """Return the records of a launch that has ended, or what is wrong with it.

    Args:
        run: The launch.
        after_others: Whether launches before it made steps.
    """
    state = run.state
    if state.state != "Completed":
        return f"ended as {state.state}. {state.reason}"
    records = run.records()
    if measured_launch(records) is not None:
        return records
    is_shared = run.job.working_dir == "here" and after_others
    return NO_STEP_AFTER_OTHERS if is_shared else _NO_STEP


def failed_launch(run: Run, watch: LaunchWatch, *, name: str, problem: str) -> RunFailedError:
    """Return the error of a comparison that fails by a launch.

    Args:
        run: The launch.
        watch: Who counts it.
        name: What it is called.
        problem: What is wrong with it.
    """
    where = f"Launch {watch.begun} of {watch.launches} ({name})"
    look = run.where_to_look(printed=f"All logs: {run.folder.logs}")
    kept = new_files_line(run.folder.path.parent, [run.job_name])
    return RunFailedError(and_then(f"{where} {problem}", f"{look}\n{kept}" if kept else look))
