"""A training in a script or a notebook that nobody launched, kept as a run.

As SageMaker Experiments has it: ``with experiment_run(...) as run: run.log_metric(...)``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import EntryPointError, SpecError, StoreError
from smtc_lab.neutral_text import neutral
from smtc_lab.spec.cluster import LOCAL, Cluster, InstanceGroup
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.identity.notes import RunNotes, changed_notes, write_notes
from smtc_lab.store.run_folder import RunFolder, runs_root
from smtc_lab.study.experiments.own_run import OwnRun
from smtc_lab.study.experiments.run_diff import folder_of

if TYPE_CHECKING:
    import types
    from collections.abc import Mapping, Sequence
    from typing import Self

    from _typeshed import StrPath

    from smtc_lab.launchers.run import Run

_LONGEST_REASON = 1_000
_IN_USE = threading.Lock()
Parameter = str | int | float | bool


class ExperimentRun:
    """Parameters, metrics and files of one training, in the folder of a run of its own.

    It is a row of ``lab.runs()`` and is shown as any run; its code is kept. Made by
    ``experiment_run``, for one ``with`` block.
    """

    def __init__(self, root: Path, job: TrainingJob, notes: RunNotes) -> None:
        self._root, self._job, self._notes = root, job, notes
        self._open: OwnRun | None = None

    @property
    def run_name(self) -> str:
        """Name of the run, and of its folder."""
        return str(self._job.job_name)

    @property
    def experiment_name(self) -> str:
        """Name of the experiment; empty: none."""
        return self._notes.experiment

    def __enter__(self) -> Self:
        if not _IN_USE.acquire(blocking=False):
            raise EntryPointError(
                "Another experiment_run is open in this process. End its with block first."
            )
        try:
            self._open = OwnRun(RunFolder.create(self._root, self.run_name), self._job)
            write_notes(self._open.folder, self._notes)
        except BaseException:
            _IN_USE.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        del trace
        run, self._open = self._opened(), None
        is_stop = kind is not None and issubclass(kind, KeyboardInterrupt)
        told = "" if kind is None else f"{kind.__name__}: {error}"
        try:
            run.end(
                "Completed" if kind is None else "Stopped" if is_stop else "Failed",
                neutral(told, longest=_LONGEST_REASON),
            )
        finally:
            _IN_USE.release()

    def log_parameter(self, name: str, value: Parameter) -> None:
        """Keep a parameter; the same name again replaces it.

        Raises:
            EntryPointError: It is no text, number or bool, there are more than 1,000, or the
                with block has not begun or is over.
            StoreError: It cannot be written.
        """
        self.log_parameters({name: value})

    def log_parameters(self, parameters: Mapping[str, Parameter]) -> None:
        """Keep parameters; see ``log_parameter``."""
        self._note("parameters", parameters)

    def log_metric(
        self,
        name: str,
        value: Any,  # noqa: ANN401  what holds a number
        step: int | None = None,
    ) -> None:
        """Keep a value of a metric.

        Args:
            name: What it is called; 1,000 names at most.
            value: A number, NaN and infinite ones too, or what holds one: a tensor of one
                element.
            step: Which step, from 0; None: one more than the last one of this metric.

        Raises:
            EntryPointError: It is no number, there are too many names, or the with block has
                not begun or is over.
            StoreError: It cannot be written.
        """
        self._opened().log(name, value, step)

    def log_artifact(self, name: str, value: StrPath) -> None:
        """Keep where something lies: a path, or a URI. Nothing is copied; see ``log_file``."""
        self._note("artifacts", {name: str(value)})

    def log_file(self, file_path: StrPath, name: str | None = None) -> None:
        """Keep a copy of a file in the folder of the run.

        Raises:
            EntryPointError: It is no file, or the with block has not begun or is over.
            StoreError: The copy cannot be written.
        """
        folder, path = self._opened().folder, Path(file_path)
        if not path.is_file():
            raise EntryPointError(f"{str(path)!r} is no file. Correct the path.")
        kept = folder.path / "artifacts"
        target = kept / f"{len(self._notes.artifacts)}-{path.name}"
        try:
            kept.mkdir(mode=0o700, exist_ok=True)
            shutil.copyfile(path, target)
        except OSError as error:
            raise StoreError(f"{str(path)!r} cannot be kept ({error.strerror}).") from error
        self.log_artifact(name or path.name, target.relative_to(folder.path))

    def _note(self, what: str, values: Mapping[str, object]) -> None:
        folder = self._opened().folder
        said = self._notes.model_dump()
        try:
            notes = RunNotes.model_validate({**said, what: {**said[what], **values}})
        except ValueError as error:
            raise EntryPointError(
                f"{', '.join(map(repr, values))}: {what} are up to 1,000 texts, numbers or "
                "bools with names of 1 to 250 characters. Convert or shorten them."
            ) from error
        write_notes(folder, notes)
        self._notes = notes

    def _opened(self) -> OwnRun:
        if self._open is None:
            raise EntryPointError(
                "This experiment_run is not open. Log within: with experiment_run(...) as run."
            )
        return self._open


def experiment_run(
    experiment_name: str = "",
    run_name: str | None = None,
    *,
    tags: Sequence[str] = (),
    root: StrPath | None = None,
) -> ExperimentRun:
    """Return a run for a training of this process, as SageMaker's ``Run`` is.

    ::

        with lab.experiment_run("digits", tags=["baseline"]) as run:
            run.log_parameters({"lr": 0.1, "depth": 3})
            for epoch in range(10):
                run.log_metric("loss", train_epoch(), step=epoch)
            run.log_file("model.pt")

    Args:
        experiment_name: What it belongs to; a column of ``lab.runs()``.
        run_name: Name of the run; None: that of the script, with the time.
        tags: Words to find it by.
        root: Folder of runs; None: the default one.

    Raises:
        SpecError: A name or a tag does not fit.
    """
    script = _script()
    group = InstanceGroup(instance_group_name="here", instance_type=LOCAL)
    try:
        notes = RunNotes(experiment=neutral(experiment_name), tags=tuple(map(neutral, tags)))
    except ValueError as error:
        raise SpecError(
            "experiment_name and tags are texts of up to 250 characters, and 50 tags at most. "
            "Shorten them."
        ) from error
    name = run_name or _new_name(experiment_name or script.stem)
    job = TrainingJob(
        entry_point=str(script), cluster=Cluster(instance_groups=(group,)), job_name=name
    )
    return ExperimentRun(runs_root(root), job, notes)


def annotate(
    run: Run | StrPath,
    *,
    tags: Sequence[str] | None = None,
    note: str | None = None,
    title: str | None = None,
    root: StrPath | None = None,
) -> None:
    """Give a run tags, a note and a title, which are columns of ``lab.runs()``.

    Args:
        run: A run, or its name or folder; it may go on.
        tags: All of its tags; None: they stay.
        note: Its note; None: it stays.
        title: What tables show before its name; empty: nothing; None: it stays.
        root: Folder of runs for names; None: the default one.

    Raises:
        StoreError: There is no such run, they are too many or too long, or cannot be written.
    """
    folder = folder_of(run, root)
    words = None if tags is None else tuple(map(neutral, tags))
    text, shown = (None if said is None else neutral(said) for said in (note, title))
    write_notes(folder, changed_notes(folder, tags=words, note=text, title=shown))


def _script() -> Path:
    """Return the script of this process; of a notebook or a command line, one of its folder."""
    found = Path(sys.argv[0])
    if found.suffix == ".py" and "ipykernel" not in found.name:
        return found.absolute()
    return Path.cwd() / ("notebook.py" if "ipykernel" in sys.modules else "python.py")


def _new_name(stem: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")[:30].strip("-") or "run"
    return f"{plain}-{time.strftime('%m%d-%H%M%S')}-{os.getpid()}-{time.time_ns() % 1000:03d}"
