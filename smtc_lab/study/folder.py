"""The folder of a study: what was asked, where it stands, and what came out."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.own_types import catalog_with
from smtc_lab.errors import StoreError
from smtc_lab.machine.beneath import MIB, read_beneath
from smtc_lab.machine.home import STUDIES
from smtc_lab.machine.stored_text import SCHEMA, SCHEMA_NAME, misfits, stored_json
from smtc_lab.spec.distribution import KEPT
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.last_sign import last_sign_s
from smtc_lab.store.run_folder import RunFolder, runs_root
from smtc_lab.store.state import TERMINAL, State, replace_file
from smtc_lab.study.carrier import Carrier, carrier_of
from smtc_lab.study.loss import loss
from smtc_lab.study.stored import find_studies, request_values, state_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog

COMPARISON = "comparison"
"""Name of the first kind of study, which requests of earlier versions are of."""

STOPPED_BY_USER = "The {} was stopped by its user."
"""Reason of a study that was stopped, for the name of its kind."""


@dataclass(frozen=True)
class StudyFolder:
    """Where the parts of one study lie. Its launches are runs with folders of their own.

    ::

        request.json   the kind of study, its jobs, and where the runs lie
        process.json   the process that carries it out
        state.json     state, reason, times and the launches so far
        <kind>.json    the result, once it has completed
        foretold.json  what a form had predicted of it
        stop           is there once its user has asked for its end
        process.log    what that process said
    """

    path: Path
    """The folder itself; its name is the study's name."""

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.path.name

    @property
    def request_file(self) -> Path:
        """What was asked for, as JSON."""
        return self.path / "request.json"

    @property
    def process_file(self) -> Path:
        """The process that carries it out, see ``Carrier``."""
        return self.path / "process.json"

    @property
    def state_file(self) -> Path:
        """Where it stands; replaced as a whole."""
        return self.path / "state.json"

    def result_file(self, kind: str) -> Path:
        """Return the file of the result; it is there before the state says ``Completed``.

        Args:
            kind: Name of the kind of study.
        """
        return self.path / f"{kind}.json"

    @property
    def stop_file(self) -> Path:
        """Is there once its user has asked for its end."""
        return self.path / "stop"

    @property
    def log_file(self) -> Path:
        """What its process said."""
        return self.path / "process.log"


@dataclass(frozen=True, kw_only=True)
class StudyRequest:
    """What a study was asked to do."""

    kind: str = COMPARISON
    """Name of the kind of study."""

    jobs: tuple[TrainingJob, ...]
    """What is launched; of a comparison the baseline first, all emulations of one dilation."""

    rounds: int = 1
    """Launches of each; 0: launches differ in what they try, and are in no round."""

    root: Path
    """Folder of the runs."""

    created: datetime
    """When it was asked for; its launches are named by it."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """What its kind takes beside that, as JSON values."""

    @property
    def catalog(self) -> Catalog:
        """Types and prices that it was asked for with."""
        return catalog_with(self.options.get("instance_types", []))

    def to_json(self) -> str:
        """Return the request as JSON text."""
        values = {
            SCHEMA_NAME: SCHEMA,
            **self.options,
            "kind": self.kind,
            "jobs": [job.model_dump(mode="json") for job in self.jobs],
            "rounds": self.rounds,
            "root": str(self.root),
            "created": self.created.isoformat(),
        }
        return json.dumps(values, indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> StudyRequest:
        """Return the request of a JSON text.

        Raises:
            ValueError: It is no JSON, or a value of it is wrong.
            TypeError: It is not an object.
            KeyError: A value is missing.
            NewerSchemaError: A newer smtc_lab wrote it.
        """
        values, jobs = request_values(text)
        return cls(
            kind=values.pop("kind", COMPARISON),
            jobs=tuple(TrainingJob.model_validate(job, context=KEPT) for job in jobs),
            rounds=values.pop("rounds"),
            root=Path(values.pop("root")),
            created=values.pop("created"),
            options=values,
        )


@dataclass(frozen=True, kw_only=True)
class LaunchedRun:
    """One launch of a study."""

    job_name: str
    """Name of the run."""

    label: str
    """What is launched, as tables call it."""

    round: int | None
    """Number of its round, from 1; None: a launch beside the rounds."""

    found: Mapping[str, Any] | None = None
    """What its kind of study found out by it, as JSON values; None: nothing, or not yet."""


@dataclass(frozen=True, kw_only=True)
class StudyState:
    """Where a study stands."""

    state: State = "Pending"
    """SageMaker's spelling, as for runs."""

    reason: str = ""
    """Why it is in that state, for people; empty when nothing is to be said."""

    started_s: float | None = None
    """When its process began, in seconds since the epoch."""

    ended_s: float | None = None
    """When it ended, in seconds since the epoch."""

    launches: int = 0
    """Launches in all, as far as it is known; 0: not yet known."""

    note: str = ""
    """As in ``Progress``."""

    runs: tuple[LaunchedRun, ...] = ()
    """The launches so far, in order; the last one is the newest."""

    @property
    def is_terminal(self) -> bool:
        """Whether the study has ended."""
        return self.state in TERMINAL


def studies_root(root: StrPath | None = None) -> Path:
    """Return the folder of all studies, which lies beside the folder of their runs.

    Args:
        root: Folder of runs; None: the default one.
    """
    return runs_root(root).parent / STUDIES


def read_request(folder: StudyFolder) -> StudyRequest:
    """Return what a study was asked to do.

    Raises:
        StoreError: There is no study in the folder, or its file is damaged.
    """
    try:
        text = read_beneath(folder.path, folder.request_file, most_bytes=16 * MIB)
        return StudyRequest.from_json(text)
    except FileNotFoundError as error:
        raise StoreError(
            f"{str(folder.path)[:200]!r} is not the folder of a comparison: it has no "
            f"request.json. {_newest(folder.path.parent)}"
        ) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"What comparison {folder.name!r} was asked to do cannot be read "
            f"({misfits(error)}). Restore request.json from a copy; its runs can still be "
            "read one by one."
        ) from error


def read_process(folder: StudyFolder) -> Carrier | None:
    """Return the process of a study; None: it was not started."""
    with contextlib.suppress(OSError, ValueError, StoreError):
        return carrier_of(stored_json(folder.path, folder.process_file))
    return None


def read_study_state(folder: StudyFolder) -> StudyState:
    """Return the state of a study, mended when its process is gone without a last word."""
    state = _state_on_disk(folder)
    process = read_process(folder)
    if state.is_terminal or process is None or process.is_alive:
        return state
    state = _state_on_disk(folder)  # its last word may have come between the two looks
    if state.is_terminal:
        return state
    ended_s = last_sign_s(_written_to(folder, state), begin_s=state.started_s)
    lost = replace(state, state="Failed", reason=loss(folder.log_file), ended_s=ended_s)
    if folder.stop_file.exists():
        lost = replace(lost, state="Stopped", reason=stopped_by_user(folder))
    with contextlib.suppress(OSError):  # a folder that cannot be written can still be read
        write_study_state(folder, lost)
    return lost


def stopped_by_user(folder: StudyFolder) -> str:
    """Return the reason of a study that its user has stopped."""
    with contextlib.suppress(StoreError):
        return STOPPED_BY_USER.format(read_request(folder).kind)
    return STOPPED_BY_USER.format(COMPARISON)


def write_study_state(folder: StudyFolder, state: StudyState) -> None:
    """Replace the state of a study, durably."""
    values = {**vars(state), "runs": [vars(run) for run in state.runs]}
    replace_file(folder.state_file, json.dumps(values))


def _state_on_disk(folder: StudyFolder) -> StudyState:
    try:
        values, runs = state_values(folder.path, folder.state_file)
        return StudyState(**values, runs=tuple(LaunchedRun(**run) for run in runs))
    except FileNotFoundError:
        return StudyState()
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(
            f"The state of comparison {folder.name!r} cannot be read ({misfits(error)}). "
            "The runs that it made can still be read one by one."
        ) from error


def _written_to(folder: StudyFolder, state: StudyState) -> Iterator[Path]:
    """Yield the folders that a study wrote to last: its own, and those of its newest launch."""
    yield folder.path
    with contextlib.suppress(StoreError):
        for run in state.runs[-1:]:
            launch = RunFolder(read_request(folder).root / run.job_name)
            yield from (launch.logs, launch.records)


def _newest(root: Path) -> str:
    """Return which comparisons there are, in one sentence."""
    names = ", ".join(path.name for _, path in reversed(find_studies(root)[-3:]))
    return f"The newest comparisons are: {names or 'none'}."
