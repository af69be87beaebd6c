"""A run in the hands of a person: look, wait, stop, read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.display import LiveDisplayed
from smtc_lab.errors import LauncherError, RunFailedError
from smtc_lab.launch.launcher import Handle
from smtc_lab.launch.local import LocalLauncher
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.reader import read_run
from smtc_lab.store.run_folder import RunFolder, find_run
from smtc_lab.store.state import RunState, current_state

if TYPE_CHECKING:
    from smtc_lab.launch.launcher import Launcher, News
    from smtc_lab.metrics.records import RunRecords

LAUNCHERS = ("local",)
"""What ``on=`` takes in this version."""


class Run(LiveDisplayed):
    """One run of a job, growing or ended."""

    _live_view = "smtc_lab.views.run_display"

    def __init__(self, launcher: Launcher, handle: Handle) -> None:
        self._launcher = launcher
        self.handle = handle
        """What finds the run again."""
        self.folder = RunFolder(Path(handle.run_folder))
        """Everything that is known of the run."""

    @classmethod
    def open(cls, name: str, *, root: Path | None = None) -> Run:
        """Return the run of a name, or of a path to its folder.

        Raises:
            StoreError: There is no such run.
        """
        folder = find_run(name, root)
        path = folder.path.resolve()
        handle = replace(Handle.read(folder.handle_file), run_folder=str(path))
        return cls(launcher_named(handle.launcher, root=path.parent), handle)

    @property
    def job_name(self) -> str:
        """Name of the job."""
        return self.handle.job_name

    @property
    def job(self) -> TrainingJob:
        """What was run."""
        return TrainingJob.from_json(self.folder.job_file.read_bytes())

    @property
    def state(self) -> RunState:
        """Where the run stands, with the reason."""
        return current_state(self.folder)

    @property
    def status(self) -> str:
        """The run's state in SageMaker's spelling."""
        return self.state.state

    def wait(self, timeout_s: float | None = None) -> Run:
        """Wait for the end of the run. An interrupt (Ctrl-C) stops the run.

        Args:
            timeout_s: Longest time to wait in seconds; None: as long as it takes.

        Raises:
            RunFailedError: The run failed; says why and where its logs are.
            LauncherError: It still runs after ``timeout_s``.
        """
        try:
            state = self._launcher.wait(self.handle, timeout_s)
        except BaseException:
            self.stop()
            raise
        if not state.is_terminal:
            raise LauncherError(
                f"Run {self.job_name!r} still runs after {timeout_s:g} s. Wait longer, or stop "
                "it."
            )
        self._say_ended()
        if state.state == "Failed":
            raise RunFailedError(
                f"Run {self.job_name!r} failed. {state.reason} All logs: {self.folder.logs}"
            )
        return self

    def stop(self) -> Run:
        """Stop the run and wait for the death of its last process. Safe to call twice."""
        self._launcher.stop(self.handle)
        return self

    def poll(self, cursor: dict[str, int] | None = None) -> News:
        """Return what happened since a cursor; None: since the begin."""
        return self._launcher.poll(self.handle, cursor)

    def logs(self, host: str | None = None) -> str:
        """Return what the entry points printed; with a host, only there."""
        lines = self.poll().log
        if host is not None:
            return "\n".join(line.text for line in lines if line.host == host)
        return "\n".join(f"{line.host} | {line.text}" for line in lines)

    def records(self) -> RunRecords:
        """Return everything that was recorded so far."""
        return read_run(self.folder)

    def __repr__(self) -> str:
        return f"<Run {self.job_name} {self.status}>"


def launcher_named(name: str, *, root: Path | None = None) -> Launcher:
    """Return a launcher.

    Args:
        name: ``local``.
        root: Folder of runs; None: the default one.

    Raises:
        LauncherError: There is no launcher of that name.
    """
    if name == "local":
        return LocalLauncher(root=root)
    raise LauncherError(
        f"There is no launcher {name[:80]!r}. Choose among {', '.join(LAUNCHERS)}."
    )


def launch(
    job: TrainingJob, *, on: str = "local", detach: bool = False, root: Path | None = None
) -> Run:
    """Start a run and return at once.

    Args:
        job: What to run.
        on: Name of the launcher.
        detach: Let the run go on when this process ends.
        root: Folder of runs; None: the default one.

    Raises:
        SpecError: The job cannot run there; all reasons at once.
        LauncherError: It could not be started; nothing of it is left.
    """
    launcher = launcher_named(on, root=root)
    return Run(launcher, launcher.start(launcher.plan(job), detach=detach))
