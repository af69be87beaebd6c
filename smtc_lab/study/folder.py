"""The folder of a comparison: what is compared, where it stands, and what came out."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import StoreError
from smtc_lab.launch.last_words import last_line
from smtc_lab.machine.processes import start_ticks
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import runs_root
from smtc_lab.store.state import TERMINAL, State, replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence

STOPPED_BY_USER = "The comparison was stopped by its user."
"""Reason of a comparison that was stopped."""


@dataclass(frozen=True)
class ComparisonFolder:
    """Where the parts of one comparison lie. Its launches are runs with folders of their own.

    ::

        request.json     what is compared, in how many rounds, and where the runs lie
        process.json     the process that carries it out
        state.json       state, reason, times and the launches so far
        comparison.json  the result, once it has completed
        stop             is there once its user has asked for its end
        process.log      what that process said
    """

    path: Path
    """The folder itself; its name is the comparison's name."""

    @property
    def name(self) -> str:
        """Name of the comparison."""
        return self.path.name

    @property
    def request_file(self) -> Path:
        """What was asked for, as JSON."""
        return self.path / "request.json"

    @property
    def process_file(self) -> Path:
        """Number and start time of the process that carries it out."""
        return self.path / "process.json"

    @property
    def state_file(self) -> Path:
        """Where it stands; replaced as a whole."""
        return self.path / "state.json"

    @property
    def result_file(self) -> Path:
        """The Comparison as JSON; it is there before the state says ``Completed``."""
        return self.path / "comparison.json"

    @property
    def stop_file(self) -> Path:
        """Is there once its user has asked for its end."""
        return self.path / "stop"

    @property
    def log_file(self) -> Path:
        """What its process said."""
        return self.path / "process.log"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a comparison was asked to do."""

    jobs: tuple[TrainingJob, ...]
    """What is compared, the baseline first; all emulations of one scale."""

    rounds: int
    """Launches of each."""

    parity: bool
    """Whether it is checked that all train the same model."""

    root: Path
    """Folder of the runs."""

    created: datetime
    """When it was asked for; its launches are named by it."""

    def to_json(self) -> str:
        """Return the request as JSON text."""
        values = {
            "jobs": [job.model_dump(mode="json") for job in self.jobs],
            "rounds": self.rounds,
            "parity": self.parity,
            "root": str(self.root),
            "created": self.created.isoformat(),
        }
        return json.dumps(values, indent=1)


@dataclass(frozen=True, kw_only=True)
class LaunchedRun:
    """One launch of a comparison."""

    job_name: str
    """Name of the run."""

    label: str
    """What is launched, as tables call it."""

    round: int | None
    """Number of its round, from 1; None: a launch that only checks parity."""


@dataclass(frozen=True, kw_only=True)
class ComparisonState:
    """Where a comparison stands."""

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

    runs: tuple[LaunchedRun, ...] = ()
    """The launches so far, in order; the last one is the newest."""

    @property
    def is_terminal(self) -> bool:
        """Whether the comparison has ended."""
        return self.state in TERMINAL


def comparisons_root(root: Path | None = None) -> Path:
    """Return the folder of all comparisons, which lies beside the folder of their runs.

    Args:
        root: Folder of runs; None: the default one.
    """
    return (runs_root() if root is None else root.resolve()).parent / "comparisons"


def read_request(folder: ComparisonFolder) -> Request:
    """Return what a comparison was asked to do.

    Raises:
        StoreError: There is no comparison in the folder, or its file is damaged.
    """
    try:
        values = json.loads(folder.request_file.read_text(encoding="utf-8"))
        return Request(
            jobs=tuple(TrainingJob.model_validate(job) for job in values["jobs"]),
            rounds=int(values["rounds"]),
            parity=bool(values["parity"]),
            root=Path(values["root"]),
            created=datetime.fromisoformat(values["created"]),
        )
    except FileNotFoundError as error:
        raise StoreError(
            f"{str(folder.path)[:200]!r} is not the folder of a comparison: it has no "
            f"request.json. {_newest(folder.path.parent)}"
        ) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"What comparison {folder.name!r} was asked to do cannot be read ({error}). "
            "Restore request.json from a copy; its runs can still be read one by one."
        ) from error


def read_process(folder: ComparisonFolder) -> tuple[int, int | None] | None:
    """Return number and start time of the process of a comparison; None: it was not started."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        values = json.loads(folder.process_file.read_text(encoding="utf-8"))
        return int(values["pid"]), values["start_ticks"]
    return None


def read_comparison_state(folder: ComparisonFolder) -> ComparisonState:
    """Return the state of a comparison, mended when its process is gone without a last word."""
    state = _state_on_disk(folder)
    process = read_process(folder)
    if state.is_terminal or process is None or _is_alive(*process):
        return state
    state = _state_on_disk(folder)  # its last word may have come between the two looks
    if state.is_terminal:
        return state
    if folder.stop_file.exists():
        lost = replace(state, state="Stopped", reason=STOPPED_BY_USER, ended_s=time.time())
    else:
        lost = replace(state, state="Failed", reason=_loss(folder), ended_s=time.time())
    with contextlib.suppress(OSError):  # a folder that cannot be written can still be read
        write_comparison_state(folder, lost)
    return lost


def write_comparison_state(folder: ComparisonFolder, state: ComparisonState) -> None:
    """Replace the state of a comparison, durably."""
    replace_file(folder.state_file, json.dumps(asdict(state), indent=1))


def _state_on_disk(folder: ComparisonFolder) -> ComparisonState:
    try:
        values: dict[str, Any] = json.loads(folder.state_file.read_text(encoding="utf-8"))
        runs: Sequence[dict[str, Any]] = values.pop("runs")
        return ComparisonState(**values, runs=tuple(LaunchedRun(**run) for run in runs))
    except FileNotFoundError:
        return ComparisonState()
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"The state of comparison {folder.name!r} cannot be read ({error}). The runs that "
            "it made can still be read one by one."
        ) from error


def _loss(folder: ComparisonFolder) -> str:
    """Return why a comparison failed whose process had no last word."""
    said = last_line(folder.log_file)
    return (
        "The process that made the launches is gone without a last word, so they ended too. "
        f"{f'The last line of its log: {said} ' if said else ''}The runs that had completed "
        "are kept. Start the comparison again."
    )


def _is_alive(pid: int, ticks: int | None) -> bool:
    return ticks is not None and start_ticks(pid) == ticks


def _newest(root: Path) -> str:
    """Return which comparisons there are, in one sentence."""
    found = sorted(
        root.glob("*/request.json"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    names = ", ".join(path.parent.name for path in found[:3])
    return f"The newest comparisons are: {names or 'none'}."
