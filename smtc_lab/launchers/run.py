"""A run in the hands of a person: look, wait, stop, read."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.display import LiveDisplayed, in_notebook
from smtc_lab.errors import LauncherError, RunFailedError
from smtc_lab.follow.run_follower import read_plan
from smtc_lab.launchers.elsewhere import OnOtherEngines, changed
from smtc_lab.launchers.engines import THIS_MACHINE, engine_named, find_engine
from smtc_lab.launchers.kept_source import given_back
from smtc_lab.launchers.launcher import Handle
from smtc_lab.launchers.supervision.supervised import SupervisedLauncher, near_end
from smtc_lab.machine.installed import loaded
from smtc_lab.metrics.pipeline.timed import pipeline_times
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.records.facts import number_of
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.run_summary import summarize
from smtc_lab.store.reader import read_job, read_pipeline, read_run
from smtc_lab.store.run_folder import RunFolder, find_run
from smtc_lab.store.said import and_then
from smtc_lab.store.state import RunState, current_state
from smtc_lab.store.steps.logged import read_logged

if TYPE_CHECKING:
    from _typeshed import StrPath

    from smtc_lab.launchers.launcher import Launcher, News
    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.pipeline.times import PipelineTimes
    from smtc_lab.metrics.records.logged import LoggedMetrics
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.job import TrainingJob


class Run(OnOtherEngines, LiveDisplayed):
    """One run of a job, growing or ended."""

    def __init__(self, launcher: Launcher | SupervisedLauncher, handle: Handle) -> None:
        self._launcher = launcher
        self.handle = handle
        """What finds the run again."""
        self.folder = RunFolder(Path(handle.run_folder))
        """Everything that is known of the run."""

    @classmethod
    def open(cls, name: str, *, root: StrPath | None = None) -> Run:
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
            raise RunFailedError(
                and_then(failed, self.where_to_look(printed=f"All logs: {self.folder.logs}"))
            )
        return self

    def stop(self) -> Run:
        """Stop the run and wait for the death of its last process. Safe to call twice."""
        self._launcher.stop(self.handle)
        return self

    def interrupt(self) -> Run:
        """Take the run's instances away, as a spot market does: notice, grace, KILL.

        It then goes on in another attempt, from its last checkpoint where it keeps some.

        Raises:
            LauncherError: It does not run, or its instances cannot be taken away from here.
        """
        self._launcher.interrupt(self.handle)
        return self

    def resume(self, *, detach: bool | None = None) -> Run:
        """Go on with a run that failed or was stopped, in another attempt; return at once.

        Args:
            detach: Let it go on when this process ends; None: in a notebook, as ``launch``.

        Raises:
            LauncherError: It still runs, is completed, or cannot be started from here.
        """
        self._launcher.resume(self.handle, detach=lives_on(detach))
        return self

    def clone(self, **changes: Any) -> TrainingJob:  # noqa: ANN401  fields of a job
        """Return its job without a name, for another launch.

        Args:
            **changes: Fields that are to be others: ``max_steps=100``.

        Raises:
            SpecError: A change does not fit, or is of what an argument of the script says.
        """
        return changed(self.job, changes)

    def again(self, *, detach: bool | None = None, **changes: Any) -> Run:  # noqa: ANN401  as above
        """Launch its job once more, with the code that it had, and return at once.

        Args:
            detach: As for ``launch``.
            **changes: As for ``clone``.

        Raises:
            SpecError: A change does not fit, or the job cannot run.
            LauncherError: Its source was not kept, or it could not be started.
        """
        script = given_back(self.folder, self.job.entry_point)
        job = self.clone(**{"entry_point": script, **changes})
        root = self.folder.path.parent
        return launch(job, on=self.handle.launcher, root=root, detach=detach)

    def poll(self, cursor: dict[str, int] | None = None) -> News:
        """Return what happened since a cursor; None: since the begin."""
        return self._launcher.poll(self.handle, cursor)

    def logs(self, host: str | None = None) -> str:
        """Return what the entry points printed, of each the last 4 MiB.

        Args:
            host: Only there; None: everywhere.
        """
        lines = self.poll(near_end(self.folder)).log
        if host is not None:
            return "\n".join(line.text for line in lines if line.host == host)
        return "\n".join(f"{line.source} | {line.text}" for line in lines)

    def where_to_look(self, *, printed: str = "") -> str:
        """Return where more is told of the run, in a sentence.

        Args:
            printed: What is said where its entry points printed something; empty: how that is
                seen.
        """
        show = f"smtc-lab runs show {self.job_name}"
        if not self.logs():
            return f"It printed nothing; what is known of it: '{show}'."
        return printed or f"See '{show} --log'."

    def records(self) -> RunRecords:
        """Return everything that was recorded so far."""
        return read_run(self.folder)

    @property
    def bill(self) -> Bill:
        """Where its billed time went so far: start-up, steps, interruptions, end; and waiting.

        Raises:
            StoreError: A file of the run is damaged.
        """
        price = number_of(read_plan(self.folder), "usd_per_hour")
        return summarize(self.records(), usd_per_hour=price).bill

    @property
    def pipeline(self) -> PipelineTimes | None:
        """Stages, bubble and timeline of a model that is cut; None: it is not, or not yet.

        Raises:
            StoreError: A file of the run is damaged.
        """
        records, dilation = read_pipeline(self.folder), dilation_of_job(self.job)
        return pipeline_times(records, evidence=evidence_of(self.job), dilation=dilation)

    def metrics(self) -> LoggedMetrics:
        """Return what the script logged so far: ``run.metrics()["loss"].value``.

        Raises:
            StoreError: A file of the run is damaged.
        """
        return read_logged(self.folder)

    def __repr__(self) -> str:
        return f"<Run {self.job_name} {self.status}>"


def launcher_named(
    name: str,
    *,
    root: StrPath | None = None,
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
    root: StrPath | None = None,
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
