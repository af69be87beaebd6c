"""The state of a run: one small file, replaced as a whole."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import math
import os
import platform
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

from smtc_lab.errors import StoreError
from smtc_lab.machine.processes import start_ticks
from smtc_lab.machine.stored_text import (
    SCHEMA,
    SCHEMA_NAME,
    settle,
    stored_json,
    text_of,
    time_of,
    whole_of,
)
from smtc_lab.metrics.records.attempts import Attempt, waited_s, with_end
from smtc_lab.store.attempts import attempts_of
from smtc_lab.store.last_sign import last_sign_s

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from smtc_lab.store.run_folder import RunFolder

State = Literal["Pending", "InProgress", "Stopping", "Completed", "Failed", "Stopped"]
"""SageMaker's spelling."""

OUTLIVES_SUPERVISOR = "outlives_supervisor"
"""Name of the fact that the instances of a run go on when its supervisor is gone."""

Secondary = Literal[
    "",
    "Starting",
    "Downloading",
    "Training",
    "Uploading",
    "Interrupted",
    "MaxRuntimeExceeded",
    "MaxWaitTimeExceeded",
]
"""SageMaker's secondary states of a run that go beyond its state; empty: nothing to add."""

TERMINAL: frozenset[str] = frozenset({"Completed", "Failed", "Stopped"})
"""States that a run does not leave."""

_TELLING = frozenset({"Starting", "Downloading", "Uploading", "Interrupted"})

_COMING_UP_S = 10.0
"""How long the supervisor of a new run's folder may take to lock it."""
_MOST_PID = 2**31 - 1
_DRAFT = ".draft"

IN_OWN_PROCESS = "in_own_process"
"""Fact of a run that a script or a notebook makes itself: its process is not ours to end."""

_ENDED_ITSELF = "The process that made the run ended without a word. What it logged is kept."

SUPERVISOR_MACHINE = "supervisor_machine"
"""Fact of a run whose folder several machines see: name of the one with its supervisor."""


@dataclass(frozen=True, kw_only=True)
class RunState:
    """Where a run stands."""

    state: State = "Pending"
    """SageMaker's spelling."""

    reason: str = ""
    """Why it is in that state, for people: sentences, and of a failure the last lines of the
    log below them; empty when nothing is to be said."""

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

    secondary: Secondary = ""
    """What it does in that state; ``Interrupted``: it waits for instances to go on with."""

    attempts: tuple[Attempt, ...] = ()
    """Each start of its instances, in order. Empty: it has not begun, or an smtc_lab from
    before there were attempts ran it."""

    @property
    def is_supervised(self) -> bool:
        """Whether the process that watches over the run lives, on this machine."""
        pid, ticks = self.supervisor_pid, self.supervisor_start_ticks
        return pid is not None and ticks is not None and start_ticks(pid) == ticks

    @property
    def word(self) -> str:
        """Its state, or the secondary one that tells people more of a run in progress."""
        return word_of(self.state, self.secondary)

    @property
    def waited_s(self) -> float:
        """Time between its attempts, in which it had no instances and is not billed."""
        return waited_s(self.attempts, self.ended_s if self.is_terminal else time.time())

    @property
    def billed_s(self) -> float | None:
        """How long it had instances, in seconds, until now; None: it has not begun."""
        lasted = lasted_s(self.started_s, self.ended_s)
        return None if lasted is None else max(0.0, lasted - self.waited_s)

    @property
    def is_terminal(self) -> bool:
        """Whether the run has ended."""
        return self.state in TERMINAL


def word_of(state: str, secondary: str) -> str:
    """Return a state, or the secondary one that tells people more of a run in progress."""
    return secondary if state == "InProgress" and secondary in _TELLING else state


def lasted_s(started_s: float | None, ended_s: float | None) -> float | None:
    """Return how long something lasted, or lasts until now, in seconds; None: not begun."""
    return None if started_s is None else max(0.0, (ended_s or time.time()) - started_s)


def read_state(folder: RunFolder) -> RunState:
    """Return the state of a run as it is on disk; a run that never started is ``Pending``.

    Raises:
        StoreError: The file is damaged, no plain file, or of a newer version.
    """
    try:
        values = stored_json(folder.path, folder.state_file)
        return RunState(
            state=state_of(values),
            reason=text_of(values, "reason"),
            started_s=time_of(values, "started_s"),
            ended_s=time_of(values, "ended_s"),
            # 0 and -1 are whole groups of processes, and 1 is nobody's supervisor
            supervisor_pid=whole_of(values, "supervisor_pid", least=2, most=_MOST_PID),
            supervisor_start_ticks=whole_of(values, "supervisor_start_ticks", least=0),
            exit_codes=_exit_codes(values),
            facts=_object_of(values, "facts"),
            secondary=_secondary_of(values),
            attempts=attempts_of(values),
        )
    except FileNotFoundError:
        return RunState()
    except (OSError, ValueError) as error:
        raise StoreError(
            f"The state of run {folder.job_name!r} cannot be read ({error}). The other files "
            f"in {str(folder.path)!r} may still hold its records."
        ) from error


def state_of(values: dict[str, Any]) -> State:
    """Take the state out of what ``state.json`` holds.

    Raises:
        ValueError: There is none of that name.
    """
    state: State = values.pop("state", "Pending")
    if state not in get_args(State):
        raise ValueError(f"its state is none of {', '.join(get_args(State))}")
    return state


def _secondary_of(values: dict[str, Any]) -> Secondary:
    secondary: Secondary = values.pop("secondary", "")
    if secondary not in get_args(Secondary):
        raise ValueError("its secondary state is none that there is")
    return secondary


def _exit_codes(values: dict[str, Any]) -> dict[str, int | None]:
    codes = _object_of(values, "exit_codes").items()
    return {
        host: whole_of({"exit code": code}, "exit code", least=-(2**31)) for host, code in codes
    }


def _object_of(values: dict[str, Any], name: str) -> dict[str, Any]:
    value = values.pop(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"its {name} are no JSON object")  # noqa: TRY004  of a file
    return value


def write_state(folder: RunFolder, state: RunState) -> None:
    """Replace the state of a run, durably. Gives up the ballast when the disk is full."""
    text = json.dumps({SCHEMA_NAME: SCHEMA, **asdict(state)}, indent=1)
    try:
        replace_file(folder.state_file, text)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        folder.ballast.unlink(missing_ok=True)
        replace_file(folder.state_file, text)


def is_in_good_hands(folder: RunFolder) -> bool:
    """Return whether the supervisor of a run lives on this machine, or is about to come up.

    It is asked for the lock that a supervisor holds, whatever the run's files say.
    """
    try:
        lock = os.open(folder.lock_file, os.O_RDWR)
    except OSError:
        age_s = time.time() - folder.path.stat().st_mtime if folder.path.is_dir() else math.inf
        return age_s < _COMING_UP_S
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def replace_file(path: Path, text: str) -> None:
    """Replace a file as a whole, durably: a reader sees the old text or the new one.

    Also of several threads and machines at once, each of which has a draft of its own.
    """
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}{_DRAFT}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        settle(path, drafts=f".{path.name}.*{_DRAFT}")
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
    signs = (folder.logs, folder.records)
    ended_s = state.ended_s or last_sign_s(signs, begin_s=state.started_s)
    lost = replace(
        state,
        state="Failed",
        reason=_ENDED_ITSELF
        if state.facts.get(IN_OWN_PROCESS)
        else "The supervisor of the run was killed, so its instances ended too. Records up to "
        "that moment are kept. Start the job again, or go on with 'smtc-lab runs resume'.",
        ended_s=ended_s,
        attempts=with_end(state.attempts, ended_s),  # however late it is resumed
    )
    with contextlib.suppress(OSError):  # a folder that cannot be written can still be read
        write_state(folder, lost)
    return lost
