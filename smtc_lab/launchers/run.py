"""A run in the hands of a person: look, wait, stop, read."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.display import LiveDisplayed, in_notebook
from smtc_lab.errors import LauncherError, RunFailedError
from smtc_lab.launchers.engines import THIS_MACHINE, engine_named, find_engine
from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.supervision.supervised import SupervisedLauncher
from smtc_lab.machine.installed import loaded
from smtc_lab.store.reader import read_job, read_run
from smtc_lab.store.run_folder import RunFolder, find_run
from smtc_lab.store.said import and_then
from smtc_lab.store.state import RunState, current_state

if TYPE_CHECKING:
    from smtc_lab.launchers.launcher import Launcher, News
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.job import TrainingJob


class Run(LiveDisplayed):
    """One run of a job, growing or ended."""

    def __init__(self, launcher: Launcher | SupervisedLauncher, handle: Handle) -> None:
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
        is_known = find_engine(handle.launcher) is not None
        launcher = (
            launcher_named(handle.launcher, root=path.parent)
            if is_known
            else SupervisedLauncher(root=path.parent)  # its folder can be read all the same
        )
        return cls(launcher, handle)

    @property
    def job_name(self) -> str:
        """Name of the job."""
        return self.handle.job_name

    @property
    def job(self) -> TrainingJob:
        """What was run."""
        return read_job(self.folder)

    @property
    def state(self) -> RunState:
        """Where the run stands, with the reason."""
        return current_state(self.folder)

    @property
    def status(self) -> str:
        """The run's state in SageMaker's spelling."""
        return self.state.state

    @property
    def end_limit_s(self) -> float:
        """Longest time that its end takes once it was asked for, in seconds."""
        return self._launcher.end_limit_s

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
            failed = f"Run {self.job_name!r} failed. {state.reason}"
            raise RunFailedError(and_then(failed, f"All logs: {self.folder.logs}"))
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
        return "\n".join(f"{line.source} | {line.text}" for line in lines)

    def records(self) -> RunRecords:
        """Return everything that was recorded so far."""
        return read_run(self.folder)

    def __repr__(self) -> str:
        return f"<Run {self.job_name} {self.status}>"


def launcher_named(
    name: str,
    *,
    root: Path | None = None,
    **options: Any,  # noqa: ANN401  each launcher has its own
) -> Launcher:
    """Return a launcher.

    Args:
        name: Of an engine.
        root: Folder of runs; None: the default one.
        **options: What that launcher takes beside the folder.

    Raises:
        LauncherError: There is no launcher of that name, or an option that it does not take.
    """
    kind = loaded(engine_named(name).launcher)
    unknown = options.keys() - signature(kind).parameters.keys()
    if unknown:
        raise LauncherError(
            f"The launcher {name!r} takes no option {', '.join(sorted(unknown))}. It takes "
            f"{', '.join(signature(kind).parameters)}."
        )
    launcher: Launcher = kind(root=root, **options)
    return launcher


def lives_on(detach: bool | None) -> bool:  # noqa: FBT001  it is what ``detach`` was given
    """Return whether what is launched goes on when this process ends; None: in a notebook."""
    return in_notebook() if detach is None else detach


def launch(
    job: TrainingJob,
    *,
    on: str | Launcher = THIS_MACHINE,
    detach: bool | None = None,
    root: Path | None = None,
    **options: Any,  # noqa: ANN401  each launcher has its own
) -> Run:
    """Start a run and return at once.

    Args:
        job: What to run.
        on: Name of the launcher, or a launcher.
        detach: Let the run go on when this process ends; None: in a notebook, whose kernel may
            be restarted at any time, and not in a script.
        root: Folder of runs; None: the default one, or that of the given launcher.
        **options: What the named launcher takes beside the folder.

    Raises:
        SpecError: The job cannot run there; all reasons at once.
        LauncherError: It could not be started; nothing of it is left.
    """
    launcher = launcher_named(on, root=root, **options) if isinstance(on, str) else on
    return Run(launcher, launcher.start(launcher.plan(job), detach=lives_on(detach)))
