"""The state of a run: one small file, replaced as a whole."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from smtc_lab.errors import StoreError
from smtc_lab.machine.processes import start_ticks

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder

State = Literal["Pending", "InProgress", "Stopping", "Completed", "Failed", "Stopped"]
"""SageMaker's spelling."""

OUTLIVES_SUPERVISOR = "outlives_supervisor"
"""Name of the fact that the instances of a run go on when its supervisor is gone."""

TERMINAL: frozenset[str] = frozenset({"Completed", "Failed", "Stopped"})
"""States that a run does not leave."""

SUPERVISOR_MACHINE = "supervisor_machine"
"""Fact of a run whose folder several machines see: name of the one with its supervisor."""


@dataclass(frozen=True, kw_only=True)
class RunState:
    """Where a run stands."""

    state: State = "Pending"
    """SageMaker's spelling."""

    reason: str = ""
    """Why it is in that state, one sentence for people; empty when nothing is to be said."""

    started_s: float | None = None
    """When the instances were started, in seconds since the epoch."""

    ended_s: float | None = None
    """When the last instance ended, in seconds since the epoch."""

    supervisor_pid: int | None = None
    """Process that watches over the run."""

    supervisor_start_ticks: int | None = None
    """Start time of that process, from ``/proc/<pid>/stat``: tells it from a later process
    of the same number."""

    exit_codes: dict[str, int | None] = field(default_factory=dict)
    """Exit code of each host's entry point; None: still running."""

    facts: dict[str, object] = field(default_factory=dict)
    """How the run was carried out: quota mechanism, quota of each host, versions."""

    @property
    def is_supervised(self) -> bool:
        """Whether the process that watches over the run lives, on this machine."""
        pid = self.supervisor_pid
        return pid is not None and start_ticks(pid) == self.supervisor_start_ticks

    @property
    def is_terminal(self) -> bool:
        """Whether the run has ended."""
        return self.state in TERMINAL


def lasted_s(started_s: float | None, ended_s: float | None) -> float | None:
    """Return how long something lasted, or lasts until now, in seconds; None: not begun."""
    return None if started_s is None else max(0.0, (ended_s or time.time()) - started_s)


def read_state(folder: RunFolder) -> RunState:
    """Return the state of a run as it is on disk; a run that never started is ``Pending``.

    Raises:
        StoreError: The file is damaged.
    """
    try:
        values = json.loads(folder.state_file.read_text(encoding="utf-8"))
        known = RunState.__dataclass_fields__
        return RunState(**{name: value for name, value in values.items() if name in known})
    except FileNotFoundError:
        return RunState()
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise StoreError(
            f"The state of run {folder.job_name!r} cannot be read ({error}). The other files "
            f"in {str(folder.path)!r} may still hold its records."
        ) from error


def write_state(folder: RunFolder, state: RunState) -> None:
    """Replace the state of a run, durably. Gives up the ballast when the disk is full."""
    text = json.dumps(asdict(state), indent=1)
    try:
        replace_file(folder.state_file, text)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        folder.ballast.unlink(missing_ok=True)
        replace_file(folder.state_file, text)


def replace_file(path: Path, text: str) -> None:
    """Replace a file as a whole, durably: a reader sees the old text or the new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def current_state(folder: RunFolder) -> RunState:
    """Return the state of a run, mended when its supervisor is gone without a last word.

    On another machine than the supervisor's this is what the supervisor wrote last.
    """
    state = read_state(folder)
    if state.is_terminal or state.supervisor_pid is None:
        return state
    if state.facts.get(SUPERVISOR_MACHINE, platform.node()) != platform.node():
        return state
    if state.is_supervised:
        return state
    state = read_state(folder)  # its last word may have come between the two looks
    if state.is_terminal:
        return state
    if state.facts.get(OUTLIVES_SUPERVISOR):
        return replace(
            state,
            reason=(
                "The supervisor of the run is gone, but its instances go on. Open the run, and "
                "wait for it or stop it: a new supervisor then follows it."
            ),
        )
    lost = replace(
        state,
        state="Failed",
        reason=(
            "The supervisor of the run was killed, so its instances ended too. Records up to "
            "that moment are kept. Start the job again."
        ),
        ended_s=state.ended_s or time.time(),
    )
    with contextlib.suppress(OSError):  # a folder that cannot be written can still be read
        write_state(folder, lost)
    return lost
