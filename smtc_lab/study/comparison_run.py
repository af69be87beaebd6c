"""A comparison in the hands of a person, while a process of its own carries it out."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.display import LiveDisplayed
from smtc_lab.errors import LauncherError, RunFailedError, SpecError
from smtc_lab.launch.local import DEFAULT_GRACE_S
from smtc_lab.launch.names import launch_name
from smtc_lab.launch.run import Run
from smtc_lab.launch.watched_run import Progress, StepCounter
from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.comparison import Comparison
from smtc_lab.store.run_folder import runs_root
from smtc_lab.store.state import replace_file
from smtc_lab.study.compare import DEFAULT_ROUNDS, ComparisonOutcome, plan_comparison
from smtc_lab.study.folder import (
    ComparisonFolder,
    ComparisonState,
    Request,
    comparisons_root,
    read_comparison_state,
    read_process,
    read_request,
)
from smtc_lab.study.supervision import await_process, start_process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.spec.job import TrainingJob

_STOP_S = 2 * DEFAULT_GRACE_S + 10.0
"""Longest time that ``stop`` waits for the end, in seconds."""


class ComparisonRun(LiveDisplayed):
    """A comparison that goes on by itself, or has ended."""

    _live_view = "smtc_lab.views.comparison_display"

    def __init__(self, folder: ComparisonFolder) -> None:
        self.folder = folder
        """Where it stands and what came out; the runs have folders of their own."""
        self.request: Request = read_request(folder)
        """What is compared."""
        self._counter: tuple[str, StepCounter] | None = None

    @classmethod
    def open(cls, name: str, *, root: Path | None = None) -> ComparisonRun:
        """Return the comparison of a name, or of a path to its folder.

        Args:
            name: What ``name`` told.
            root: Folder of runs, beside which comparisons lie; None: the default one.

        Raises:
            StoreError: There is no such comparison.
        """
        path = Path(name) if "/" in name else comparisons_root(root) / name
        return cls(ComparisonFolder(path))

    @property
    def name(self) -> str:
        """Name of the comparison."""
        return self.folder.name

    @property
    def state(self) -> ComparisonState:
        """Where it stands, with the reason and the launches so far."""
        return read_comparison_state(self.folder)

    @property
    def status(self) -> str:
        """Its state in SageMaker's spelling."""
        return self.state.state

    @property
    def runs(self) -> list[Run]:
        """The launches so far, in the order in which they ran."""
        return [self.run_named(run.job_name) for run in self.state.runs]

    @property
    def comparison(self) -> Comparison | None:
        """The result; None: there is none, or not yet.

        Raises:
            StoreError: Its file is damaged.
        """
        if self.status != "Completed":
            return None
        return Comparison.from_json(self.folder.result_file.read_bytes())

    def run_named(self, job_name: str) -> Run:
        """Return one of its launches."""
        return Run.open(job_name, root=self.request.root)

    def progress(self) -> Progress:
        """Return how far it is."""
        state = self.state
        until_s = time.time() if state.ended_s is None else state.ended_s
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
        )
        elapsed_s = 0.0 if state.started_s is None else max(0.0, until_s - state.started_s)
        if newest is None:
            return begin
        if self._counter is None or self._counter[0] != newest.job_name:
            counter = StepCounter(self.run_named(newest.job_name))
            self._counter = (newest.job_name, counter)
        return self._counter[1].progress(begin, elapsed_s)

    def wait(self, timeout_s: float | None = None) -> ComparisonOutcome:
        """Wait for the end and return the result. An interrupt (Ctrl-C) stops everything.

        Args:
            timeout_s: Longest time to wait in seconds; None: as long as it takes.

        Raises:
            RunFailedError: A launch failed, or it was stopped; says why.
            LauncherError: It still runs after ``timeout_s``.
        """
        try:
            state = self._await_end(timeout_s)
        except BaseException:
            self.stop()
            raise
        if not state.is_terminal:
            raise LauncherError(
                f"Comparison {self.name!r} still runs after {timeout_s:g} s. Wait longer, or "
                "stop it."
            )
        self._say_ended()
        comparison = self.comparison
        if comparison is None:
            raise RunFailedError(
                f"Comparison {self.name!r} ended as {state.state}. {state.reason}"
            )
        records = [
            self.run_named(run.job_name).records()
            for run in state.runs
            if run.round is not None
        ]
        completed = tuple(run for run in records if run.state == "Completed")
        return ComparisonOutcome(comparison=comparison, runs=completed)

    def stop(self) -> ComparisonRun:
        """Stop the launch that runs, begin no other one, and wait for the end of all.

        Safe to call twice, and after the end.

        Raises:
            LauncherError: It does not end.
        """
        process = read_process(self.folder)
        if self.state.is_terminal or process is None:
            return self
        pid, ticks = process
        self.folder.stop_file.touch(mode=0o600)  # a signal may come before anybody listens
        if start_ticks(pid) == ticks:
            os.kill(pid, signal.SIGTERM)
        if not self._await_end(_STOP_S).is_terminal:
            raise LauncherError(
                f"Comparison {self.name!r} does not end: its process {pid} still lives after "
                f"{_STOP_S:g} s. Kill that process; its runs end with it."
            )
        return self

    def _repr_html_(self) -> str:
        html: str = importlib.import_module(self._live_view).html(self)
        return html

    def _await_end(self, timeout_s: float | None) -> ComparisonState:
        await_process(self.folder, timeout_s)
        return self.state

    def __repr__(self) -> str:
        return f"<ComparisonRun {self.name} {self.status}>"


def launch_comparison(
    jobs: Sequence[TrainingJob],
    *,
    rounds: int = DEFAULT_ROUNDS,
    root: Path | None = None,
    parity: bool = False,
    detach: bool = False,
) -> ComparisonRun:
    """Start a comparison and return at once; a process of its own makes the launches.

    What is launched, and what is compared, is the same as with ``compare``.

    Args:
        jobs: One for each cluster, the baseline first; the clusters' labels differ.
        rounds: Launches of each, at least 1.
        root: Folder of runs; None: the default one. The comparison lies beside it.
        parity: Check, in short launches of their own, that all train the same model.
        detach: Let it go on when this process ends.

    Raises:
        SpecError: A job cannot run here, or the jobs cannot be compared; nothing was started.
        LauncherError: It could not be started; nothing of it is left.
    """
    if parity and not any(job.compiler_config for job in jobs):
        raise SpecError(
            "parity=True compares what compilers compute, but no job has compiler settings. "
            "Give a job a compiler_config, or leave parity out."
        )
    plan = plan_comparison(jobs, rounds=rounds, root=root)
    request = Request(
        jobs=plan.jobs,
        rounds=rounds,
        parity=parity,
        root=runs_root() if root is None else root.resolve(),
        created=plan.created,
    )
    size = f"{len(jobs)}x{rounds}"
    name = launch_name(jobs[0].entry_point, "comparison", size[:6], stamp=plan.created)
    folder = ComparisonFolder(comparisons_root(root) / name)
    try:
        folder.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.path.mkdir(mode=0o700)
    except OSError as error:
        raise LauncherError(f"The comparison {name!r} was not started: {error}") from error
    try:
        replace_file(folder.request_file, request.to_json())
        start_process(folder, detach=detach)
    except OSError as error:
        shutil.rmtree(folder.path, ignore_errors=True)
        raise LauncherError(f"The comparison {name!r} was not started: {error}") from error
    return ComparisonRun(folder)
