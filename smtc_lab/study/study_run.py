"""A study in the hands of a person, while another process carries it out."""

from __future__ import annotations

import math
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from smtc_lab.display import LiveDisplayed
from smtc_lab.errors import LauncherError, RunFailedError, StoreError
from smtc_lab.launchers.run import Run
from smtc_lab.launchers.supervision.lifeline import send_signal_to
from smtc_lab.machine.beneath import MIB, read_beneath
from smtc_lab.store.state import lasted_s
from smtc_lab.study.folder import (
    StudyFolder,
    StudyRequest,
    StudyState,
    read_process,
    read_request,
    read_study_state,
    studies_root,
)
from smtc_lab.study.new_files import new_files_line
from smtc_lab.study.supervision import await_process, make_study, start_process
from smtc_lab.study.watched_run import LOOK_S, Progress, StepCounter

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import StrPath

_RESULT_BYTES = 64 * MIB
_STOP_S = 13.0
"""Longest time that ``stop`` waits for the end, beside that of the launch, in seconds."""


class StudyRun(LiveDisplayed):
    """A study that goes on by itself, or has ended."""

    def __init__(self, folder: StudyFolder) -> None:
        self.folder = folder
        """Where it stands and what came out; the runs have folders of their own."""
        self.request: StudyRequest = read_request(folder)
        """What was asked."""
        self._counter: tuple[str, StepCounter, int | None] | None = None

    @classmethod
    def open(cls, name: str, *, root: StrPath | None = None) -> Self:
        """Return the study of a name, or of a path to its folder.

        Args:
            name: What ``name`` told.
            root: Folder of runs, beside which studies lie; None: the default one.

        Raises:
            StoreError: There is no such study.
        """
        path = Path(name) if "/" in name else studies_root(root) / name
        return cls(StudyFolder(path))

    @property
    def name(self) -> str:
        """Its name."""
        return self.folder.name

    @property
    def state(self) -> StudyState:
        """Where it stands, with the reason and the launches so far."""
        return read_study_state(self.folder)

    @property
    def status(self) -> str:
        """Its state in SageMaker's spelling."""
        return self.state.state

    @property
    def runs(self) -> list[Run]:
        """The launches so far, in the order in which they ran."""
        return [self.run_named(run.job_name) for run in self.state.runs]

    @property
    def new_files(self) -> str:
        """Where the new files of its launches are kept, a sentence; empty: there are none."""
        return new_files_line(self.request.root, [run.job_name for run in self.state.runs])

    @property
    def result_json(self) -> bytes | None:
        """The result as it was written; None: there is none, or not yet.

        Raises:
            StoreError: It cannot be read.
        """
        if self.status != "Completed":
            return None
        path = self.folder.result_file(self.request.kind)
        try:
            return read_beneath(self.folder.path, path, most_bytes=_RESULT_BYTES)
        except OSError as error:
            raise StoreError(
                f"The result of {self.request.kind} {self.name!r} cannot be read ({error}). "
                "Restore it from a copy, or start it again; its runs can still be read."
            ) from error

    def run_named(self, job_name: str) -> Run:
        """Return one of its launches."""
        return Run.open(job_name, root=self.request.root)

    def progress(self) -> Progress:
        """Return how far it is."""
        state = self.state
        newest = state.runs[-1] if state.runs else None
        first = self.request.jobs[0]
        begin = Progress(
            launch=len(state.runs),
            launches=state.launches or len(self.request.jobs) * self.request.rounds,
            cluster=first.cluster.label if newest is None else newest.label,
            steps=0,
            max_steps=first.max_steps,
            elapsed_s=0.0,
            mean_step_time_s=None,
            note=state.note,
        )
        elapsed_s = lasted_s(state.started_s, state.ended_s) or 0.0
        if newest is None:
            return begin
        if self._counter is None or self._counter[0] != newest.job_name:
            run = self.run_named(newest.job_name)
            self._counter = (newest.job_name, StepCounter(run), run.job.max_steps)
        _, counter, max_steps = self._counter
        return counter.progress(replace(begin, max_steps=max_steps), elapsed_s)

    def await_end(
        self,
        timeout_s: float | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        """Wait until it has completed. An interrupt (Ctrl-C) stops everything.

        Args:
            timeout_s: Longest time to wait in seconds; None: as long as it takes.
            progress: Called about twice a second meanwhile; None: nobody listens.

        Raises:
            RunFailedError: A launch failed, or it was stopped; says why.
            LauncherError: It still runs after ``timeout_s``.
        """
        try:
            state = (
                self._await_process(timeout_s)
                if progress is None
                else self._await_telling(progress, timeout_s)
            )
        except BaseException:
            self.stop()
            raise
        title = self.request.kind.capitalize()
        if not state.is_terminal:
            raise LauncherError(
                f"{title} {self.name!r} still runs after {timeout_s:g} s. Wait longer, or stop "
                "it."
            )
        self._say_ended()
        if state.state != "Completed":
            raise RunFailedError(
                f"{title} {self.name!r} ended as {state.state}. {state.reason}"
            )

    def stop(self) -> Self:
        """Stop the launch that runs, begin no other one, and wait for the end of all.

        Safe to call twice, and after the end.

        Raises:
            LauncherError: It does not end.
        """
        process = read_process(self.folder)
        if self.state.is_terminal or process is None:
            return self
        self.folder.stop_file.touch(mode=0o600)  # a signal may come before anybody listens
        if not process.is_callers:
            send_signal_to(process.pid, process.start_ticks, signal.SIGTERM)
        runs = self.runs
        limit_s = _STOP_S + (runs[-1].end_limit_s if runs else 0.0)
        if not self._await_process(limit_s).is_terminal:
            raise LauncherError(
                f"{self.request.kind.capitalize()} {self.name!r} does not end: its process "
                f"{process.pid} still lives after {limit_s:g} s. Kill that process; its runs "
                "end with it."
            )
        return self

    def resume(
        self,
        *,
        detach: bool | None = None,  # noqa: ARG002  a kind that can takes it
        **changes: Any,  # noqa: ANN401, ARG002  as above
    ) -> Self:
        """Go on with a study that was stopped, or whose process was killed; return at once.

        Args:
            detach: Let it go on when this process ends; None: in a notebook.
            **changes: What is asked otherwise from now on.

        Raises:
            LauncherError: A study of its kind cannot.
        """
        raise LauncherError(
            f"{self.name!r} is a {self.request.kind}, which is not resumed. Start it again; "
            "its runs can still be read."
        )

    def _await_telling(
        self, progress: Callable[[Progress], None], timeout_s: float | None
    ) -> StudyState:
        ends_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            state = self._await_process(max(0.0, min(LOOK_S, ends_s - time.monotonic())))
            if state.is_terminal or time.monotonic() >= ends_s:
                return state
            if state.runs:
                progress(self.progress())

    def _await_process(self, timeout_s: float | None) -> StudyState:
        await_process(self.folder, timeout_s)
        return self.state

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} {self.status}>"


def start_study(request: StudyRequest, *, detach: bool) -> StudyFolder:
    """Start a study and return at once; a process of its own makes the launches.

    Args:
        request: What to do; it was checked.
        detach: Let it go on when this process ends.

    Raises:
        LauncherError: It could not be started; nothing of it is left.
    """
    return make_study(request, partial(start_process, detach=detach))
