"""The folder of a run: everything that is known of it, copied as a folder."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from smtc_lab.errors import StoreError
from smtc_lab.machine.beneath import names_beneath
from smtc_lab.machine.home import HOME_VARIABLE, home

if TYPE_CHECKING:
    from collections.abc import Collection

    from _typeshed import StrPath

COMPILER_FOLDER = "output/data/compiler"
"""Where the training compiler's files lie, below ``/opt/ml``."""

_BALLAST_BYTES = 256 * 1024
JOB_NAME = re.compile(r"(?=.{1,63}\Z)[A-Za-z0-9](-*[A-Za-z0-9])*")
"""What a run can be called."""

ANY_RECORDS = re.compile(r"[A-Za-z0-9-]{1,100}\.sqlite")
"""Names of record files, of whomever."""

RANK_RECORDS = re.compile(r"[A-Za-z0-9-]{1,80}-rank[0-9]{1,6}\.sqlite")
"""Names of the record files of trainers."""

LOGS = re.compile(r"algo-[0-9]{1,6}(-rank[0-9]{1,6})?\.log")
"""Names of the logs of entry points; our own processes have others."""


@dataclass(frozen=True)
class RunFolder:
    """Where the parts of one run lie.

    ::

        job.json  plan.json  handle.json  state.json
        environment.json              what was installed where the entry point ran
        logs/<host>.log               what the entry point printed; of several trainers
                                      of an instance each has its <host>-rank<n>.log
        records/<host>-rank<n>.sqlite step, loader and event records of a trainer
        records/<host>-system.sqlite  system samples of an instance
        records/<host>-printed.sqlite metrics found in what its entry points printed
        records/run.sqlite            events of the run as a whole
        instances/<host>/opt/ml/      the tree that SageMaker shows to an entry point
        work/                         new files of entry points that have a folder of their own
    """

    path: Path
    """The folder itself; its name is the job's name."""

    @classmethod
    def create(cls, root: Path, job_name: str) -> Self:
        """Make a new, private folder for a run.

        Raises:
            StoreError: The folder exists, or cannot be made.
        """
        folder = cls(root / job_name)
        if not JOB_NAME.fullmatch(job_name):
            raise StoreError(
                f"{job_name[:80]!r} cannot be the name of a run's folder: it is not 1 to 63 "
                "letters and digits with '-' between them. Rename the job."
            )
        try:
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            if folder.path.exists():
                raise StoreError(
                    f"A run named {job_name!r} already lies in {str(root)!r}. Choose another "
                    "job_name, or remove the old run's folder."
                )
            folder._make()
        except OSError as error:
            raise StoreError(
                f"The run folder {str(folder.path)!r} cannot be made: {error.strerror}. Free "
                f"the place, or set {HOME_VARIABLE} to another folder."
            ) from error
        return folder

    def _make(self) -> None:
        self.path.mkdir(mode=0o700)
        try:
            for part in (self.logs, self.records, self.path / "instances"):
                part.mkdir(mode=0o700)
            self.ballast.touch(mode=0o600)
            self.ballast.write_bytes(b"\0" * _BALLAST_BYTES)
        except OSError:
            import shutil  # noqa: PLC0415  only a failure needs it

            shutil.rmtree(self.path, ignore_errors=True)  # else its name would be taken
            raise

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return the folder of a run that exists.

        Raises:
            StoreError: There is no run in that folder.
        """
        folder = cls(path)
        if _marker(folder.job_file) is None:
            raise StoreError(
                f"{str(path)!r} is not the folder of a run: it has no job.json. Run "
                "'smtc-lab runs' to see the runs that there are."
            )
        return folder

    @property
    def job_name(self) -> str:
        """Name of the run's job."""
        return self.path.name

    @property
    def job_file(self) -> Path:
        """The TrainingJob as JSON."""
        return self.path / "job.json"

    @property
    def plan_file(self) -> Path:
        """The launch plan as JSON: what was asked for each instance."""
        return self.path / "plan.json"

    @property
    def environment_file(self) -> Path:
        """Python and packages of the environment that the entry point runs in, as JSON."""
        return self.path / "environment.json"

    @property
    def shown_package(self) -> Path:
        """Folder that shows this package to another environment's interpreter."""
        return self.path / "package"

    @property
    def handle_file(self) -> Path:
        """What a launcher needs to find the run again."""
        return self.path / "handle.json"

    @property
    def state_file(self) -> Path:
        """State, reason, times and exit codes; replaced as a whole."""
        return self.path / "state.json"

    @property
    def prediction_file(self) -> Path:
        """What the planner predicted of the run, as JSON."""
        return self.path / "prediction.json"

    @property
    def lock_file(self) -> Path:
        """Locked by the run's supervisor for as long as it lives."""
        return self.path / "supervisor.lock"

    @property
    def secret_file(self) -> Path:
        """The secret that the run's data servers and clients prove to each other."""
        return self.path / "secret"

    @property
    def rendezvous(self) -> Path:
        """Folder in which the trainers of a run of this machine meet, while it runs."""
        return self.path / "rendezvous"

    @property
    def ballast(self) -> Path:
        """Space that is given up when the disk is full, so that the end can be written."""
        return self.path / ".ballast"

    @property
    def logs(self) -> Path:
        """Folder of the instances' logs."""
        return self.path / "logs"

    @property
    def records(self) -> Path:
        """Folder of the record files, one writer each."""
        return self.path / "records"

    def log_files(self) -> list[Path]:
        """Return the logs of all entry points that are there, sorted."""
        return [self.logs / name for name in names_beneath(self.path, self.logs, LOGS)]

    def record_files(self, pattern: re.Pattern[str] = ANY_RECORDS) -> list[Path]:
        """Return the record files that are there, sorted.

        Args:
            pattern: What their names are.
        """
        names = names_beneath(self.path, self.records, pattern)
        return [self.records / name for name in names]

    def log_file(self, host: str, rank: int | None = None) -> Path:
        """What the entry point of one instance printed.

        Args:
            host: Name of the instance.
            rank: Which of its trainers, where it has several; None: it has one process.
        """
        return self.logs / (f"{host}.log" if rank is None else f"{host}-rank{rank}.log")

    def rank_records(self, host: str, rank: int) -> Path:
        """What a trainer recorded."""
        return self.records / f"{host}-rank{rank}.sqlite"

    def system_records(self, host: str, what: str = "system") -> Path:
        """What the agent of an instance recorded; ``printed``: what was found in its logs."""
        return self.records / f"{host}-{what}.sqlite"

    def instance(self, host: str) -> Path:
        """The part of the folder that belongs to one instance."""
        return self.path / "instances" / host

    def opt_ml(self, host: str) -> Path:
        """``SAGEMAKER_BASE_DIR`` of one instance."""
        return self.instance(host) / "opt" / "ml"

    def agent_file(self, host: str) -> Path:
        """What an instance is told, as JSON."""
        return self.instance(host) / "agent.json"

    def exit_file(self, host: str) -> Path:
        """How an instance ended, as JSON."""
        return self.instance(host) / "exit.json"

    def failure_file(self, host: str) -> Path:
        """Where the entry point of an instance says why it failed."""
        return self.opt_ml(host) / "output" / "failure"

    def compiler_folder(self, host: str) -> Path:
        """Reports, traces and intermediate files of an instance's training compiler."""
        return self.opt_ml(host) / COMPILER_FOLDER


def runs_root(root: StrPath | None = None) -> Path:
    """Return a folder of runs; None: ``$SMTC_LAB_HOME/runs``, or that of the user's data."""
    return home() / "runs" if root is None else Path(root).resolve()


def find_runs(root: StrPath | None = None, *, known: Collection[str] = ()) -> list[RunFolder]:
    """Return the runs under a folder, or in ``runs_root()``, oldest first.

    Args:
        root: The folder.
        known: Names that are left out without a look.

    Raises:
        StoreError: The folder may not be read.
    """
    root = runs_root(root)
    try:
        names = os.listdir(root) if root.is_dir() else []  # noqa: PTH208  paths of ten thousand take long
    except PermissionError as error:
        raise StoreError(
            f"The runs in {str(root)!r} cannot be listed: {error.strerror}. Give yourself the "
            f"right to read this folder, or set {HOME_VARIABLE} to another one."
        ) from error
    unknown = (name for name in names if name not in known)
    made_s = [
        (at.st_mtime, name) for name in unknown if (at := _marker(f"{root}/{name}/job.json"))
    ]
    return [RunFolder(root / name) for _, name in sorted(made_s)]


def _marker(path: StrPath) -> os.stat_result | None:
    """Return what is known of the file that makes a folder a run; None: it has none."""
    try:
        return os.lstat(path)  # a link leads nowhere, and its run's row will say so
    except OSError:  # also a folder of somebody else, which may not be entered
        return None


def find_run(name: str, root: StrPath | None = None) -> RunFolder:
    """Return the run of a name, or of a path to its folder.

    Raises:
        StoreError: There is no such run; names the ones that begin alike.
    """
    if "/" in name:
        return RunFolder.open(Path(name))
    root = runs_root(root)
    if JOB_NAME.fullmatch(name) and _marker(root / name / "job.json") is not None:
        return RunFolder(root / name)
    known = [folder.job_name for folder in find_runs(root)]
    begin_so = [job_name for job_name in known if name and job_name.startswith(name)]
    if len(begin_so) == 1:
        return RunFolder(root / begin_so[0])
    import difflib  # noqa: PLC0415  only an unknown name needs it

    if begin_so:
        hint = f"Runs that begin so: {', '.join(begin_so[:5])}."
    elif alike := difflib.get_close_matches(name, known):
        hint = f"Did you mean {', '.join(alike)}?"
    else:
        hint = f"The newest runs are: {', '.join(known[-3:]) or 'none'}."
    raise StoreError(f"There is no run named {name[:80]!r} in {str(root)!r}. {hint}")
