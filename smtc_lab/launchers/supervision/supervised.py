"""What all launchers share: a folder for each run, and a supervisor that watches over it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import LauncherError, StoreError, UnsafeFileError
from smtc_lab.instance.variables import FINGERPRINTS_VARIABLE
from smtc_lab.launchers.kept_source import keep_source
from smtc_lab.launchers.launcher import Handle, LaunchPlan, LogLine, News
from smtc_lab.launchers.plan_file import write_plan
from smtc_lab.launchers.special_launch import FINGERPRINTS
from smtc_lab.launchers.supervision.begin import await_end, start_supervisor
from smtc_lab.launchers.supervision.lifeline import send_signal_to
from smtc_lab.machine.beneath import MIB, open_beneath, read_beneath
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder, runs_root
from smtc_lab.store.said import as_a_terminal_leaves
from smtc_lab.store.state import IN_OWN_PROCESS, RunState, current_state, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from _typeshed import StrPath

    from smtc_lab.launchers.launcher import CheckLine
    from smtc_lab.spec.job import TrainingJob


LOG_BYTES = 4 * MIB
"""Of a log that much is read at once, and at its end."""


class SupervisedLauncher:
    """Keeps each run in a folder of this machine, in the hands of a supervisor process.

    Whatever the instances are, what they say and record comes to that folder, so a run is
    read, watched and stopped in one way.

    Args:
        root: Folder of runs; None: the default one.
        catalog: Where instance types are looked up; None: the one that comes along.
    """

    name: ClassVar[str]

    end_limit_s: ClassVar[float] = 60.0
    """Longest time that the end of a run takes once it was asked for, in seconds."""

    takes_instances: ClassVar[bool] = False
    """Whether ``interrupt`` can take instances away."""

    def __init__(self, *, root: StrPath | None = None, catalog: Catalog | None = None) -> None:
        self._root = runs_root(root)
        self._sweeps_all = root is None
        self._catalog = Catalog.load() if catalog is None else catalog

    @property
    def root(self) -> Path:
        """Folder of its runs."""
        return self._root

    def _write(self, folder: RunFolder, plan: LaunchPlan) -> None:
        """Write what the supervisor reads, and what a reader wants to know later."""
        write_plan(folder, plan)

    def _remote(self, plan: LaunchPlan) -> Mapping[str, str]:
        """Return the names by which the run is found at the launcher's service."""
        del plan
        return {}

    def _supervisor_environment(self, remote: Mapping[str, str]) -> dict[str, str]:
        """Return variables that the supervisor of a run needs beside those of entry points."""
        del remote
        return {}

    def _begin(self, folder: RunFolder, plan: LaunchPlan, *, detach: bool) -> None:
        """Start everything of a run whose handle is stored.

        Raises:
            LauncherError: It could not be started; nothing of it is left.
        """
        hashed = {FINGERPRINTS_VARIABLE: "1"} if plan.facts.get(FINGERPRINTS) else None
        start_supervisor(folder, detach=detach, environment=hashed)

    def common_dilation(self, jobs: Sequence[TrainingJob]) -> float | None:
        """Return nothing: an emulation that names none takes the machines as they are."""
        del jobs
        return None

    def check_account(self, *, live: bool) -> Iterator[CheckLine]:
        """Yield nothing: nothing is billed."""
        del live
        return iter(())

    def start(self, plan: LaunchPlan, *, detach: bool = False) -> Handle:
        """Start a run and return at once. A second call with the same plan starts nothing.

        Args:
            plan: What ``plan`` returned.
            detach: Let the run go on when this process ends.

        Raises:
            LauncherError: It could not be started; nothing of it is left.
        """
        if not sys.platform.startswith("linux"):
            raise LauncherError(
                f"Runs are launched from Linux only, and this is {sys.platform}. Use a Linux "
                "machine, container or virtual machine."
            )
        job_name = str(plan.job.job_name)
        existing = RunFolder(self._root / job_name)
        if existing.handle_file.is_file():
            return self._started_before(existing, plan)
        try:
            folder = RunFolder.create(self._root, job_name)
            handle = self._prepare(folder, plan)
        except (StoreError, OSError) as error:
            raise LauncherError(f"The run {job_name!r} was not started: {error}") from error
        self._begin(folder, plan, detach=detach)
        return handle

    def _prepare(self, folder: RunFolder, plan: LaunchPlan) -> Handle:
        """Write all that a run begins with; leave nothing of it if that is interrupted."""
        handle = Handle(
            launcher=self.name,
            job_name=folder.job_name,
            run_folder=str(folder.path),
            remote=dict(self._remote(plan)),
        )
        try:
            self._write(folder, plan)
            keep_source(folder, plan.job.entry_point)
            replace_file(folder.handle_file, handle.to_json())
        except BaseException:
            shutil.rmtree(folder.path, ignore_errors=True)
            raise
        return handle

    def poll(self, handle: Handle, cursor: dict[str, int] | None = None) -> News:
        """Return what happened since the cursor; None: since the begin."""
        folder = RunFolder(Path(handle.run_folder))
        cursor = dict(cursor or {})
        state = current_state(folder)
        lines: list[LogLine] = []
        for log in folder.log_files():
            lines += _new_lines(folder, log, cursor)
        events: list[EventRecord] = []
        for path in folder.record_files():
            key = f"events:{path.stem}"
            found, cursor[key] = read_records(path, EventRecord, after=cursor.get(key, 0))
            events += found
        events.sort(key=lambda event: event.time_s)
        return News(state=state, log=tuple(lines), events=tuple(events), cursor=cursor)

    def wait(self, handle: Handle, timeout_s: float | None = None) -> RunState:
        """Wait for the end of a run and return its state; at most ``timeout_s`` seconds."""
        folder = RunFolder(Path(handle.run_folder))
        await_end(folder, timeout_s)
        return current_state(folder)

    def stop(self, handle: Handle, *, grace_s: float | None = None) -> RunState:
        """Stop a run and return its last state. Safe to call again, and on an ended run.

        Args:
            handle: The run.
            grace_s: Longest time to wait for its end, beyond the run's own grace, in seconds.
        """
        folder = RunFolder(Path(handle.run_folder))
        state = current_state(folder)
        pid = state.supervisor_pid
        if state.is_terminal or pid is None:
            return state
        if state.facts.get(IN_OWN_PROCESS):
            raise LauncherError(
                f"Run {handle.job_name!r} was not launched: a script or a notebook makes it by "
                f"itself, in process {pid}. End it there."
            )
        send_signal_to(pid, state.supervisor_start_ticks, signal.SIGTERM)
        return self.wait(handle, timeout_s=self.end_limit_s + (grace_s or 0.0))

    def interrupt(self, handle: Handle) -> None:
        """Take the instances of a run away, as a spot market does; another attempt follows.

        Raises:
            LauncherError: It does not run, or its instances are not this machine's to take.
        """
        folder = self._with_own_instances(handle)
        state = current_state(folder)
        pid, ticks = state.supervisor_pid, state.supervisor_start_ticks
        if state.is_terminal or pid is None or not send_signal_to(pid, ticks, signal.SIGUSR1):
            raise LauncherError(
                f"Run {handle.job_name!r} does not run ({current_state(folder).state}), so "
                "nothing can be taken away from it. Launch it first."
            )

    def resume(self, handle: Handle, *, detach: bool = False) -> None:
        """Start another attempt of a run that ended without success, and return at once.

        Raises:
            LauncherError: It did not end so, or it could not be started.
        """
        folder = self._with_own_instances(handle)
        state = current_state(folder)
        if state.state not in {"Failed", "Stopped"}:
            raise LauncherError(
                f"Run {handle.job_name!r} is {state.state}, so there is nothing to go on with. "
                "Only runs that failed or were stopped are resumed."
            )
        environment = self._supervisor_environment(handle.remote)
        start_supervisor(folder, detach=detach, environment=environment)

    def _with_own_instances(self, handle: Handle) -> RunFolder:
        if not self.takes_instances:
            raise LauncherError(
                f"The launcher {self.name!r} starts and ends its instances by itself: run "
                f"{handle.job_name!r} cannot be interrupted or resumed from here."
            )
        return RunFolder(Path(handle.run_folder))

    def _started_before(self, folder: RunFolder, plan: LaunchPlan) -> Handle:
        known = read_beneath(folder.path, folder.job_file, most_bytes=16 * MIB)
        if known != plan.job.to_json().encode():
            raise LauncherError(
                f"A run named {folder.job_name!r} exists and is of another job. Choose another "
                "job_name, or remove the old run's folder."
            )
        return Handle.read(folder.handle_file)


def near_end(folder: RunFolder) -> dict[str, int]:
    """Return a cursor behind all but the last 4 MiB of each log, at the begin of a line."""
    cursor = {}
    for log in folder.log_files():
        with contextlib.suppress(UnsafeFileError), open_beneath(folder.path, log) as file:
            skipped = file.seek(0, os.SEEK_END) - LOG_BYTES
            if skipped > 0:
                file.seek(skipped)
                cursor[f"log:{log.stem}"] = skipped + len(file.readline(LOG_BYTES))
    return cursor


def _new_lines(folder: RunFolder, log: Path, cursor: dict[str, int]) -> list[LogLine]:
    """Return the whole lines that a log has gained, and move the cursor behind them."""
    key = f"log:{log.stem}"
    host, _, rank = log.stem.partition("-rank")
    at = cursor.get(key, 0)
    try:
        with open_beneath(folder.path, log) as file:
            file.seek(at)
            data = file.read(LOG_BYTES)
    except UnsafeFileError as error:  # told once; the others are worth reading
        data = b"" if at else f"{error}\n".encode()
    end = data.rfind(b"\n") + 1
    if end == 0 and len(data) >= MIB:  # a line that never ends is shown in pieces
        end = len(data)
    cursor[key] = at + end
    lines = data[:end].decode("utf-8", errors="replace").removesuffix("\n").split("\n")
    return [
        LogLine(host=host, text=as_a_terminal_leaves(line), rank=int(rank) if rank else None)
        for line in (lines if end else ())
    ]
