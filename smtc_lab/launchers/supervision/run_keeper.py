"""Writes down what becomes of a run, for everybody who looks at its folder."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from smtc_lab.errors import StoreError
from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.records.attempts import Attempt, with_end
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.store.run_folder import RANK_RECORDS
from smtc_lab.store.said import readable
from smtc_lab.store.state import RunState, Secondary, read_state, write_state
from smtc_lab.store.writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from smtc_lab.launchers.supervision.gang import Outcome
    from smtc_lab.launchers.supervision.instances import InstanceEnd
    from smtc_lab.store.run_folder import RunFolder


_LIMITS: tuple[Literal["MaxRuntimeExceeded", "MaxWaitTimeExceeded"], ...] = (
    "MaxRuntimeExceeded",
    "MaxWaitTimeExceeded",
)


class RunKeeper:
    """Keeps a run's state and its events. One for a run: that of its supervisor."""

    def __init__(
        self, folder: RunFolder, *, hosts: Iterable[str], facts: Mapping[str, object]
    ) -> None:
        self._folder = folder
        self._problems: list[str] = []
        self._events = RecordWriter(folder.records / "run.sqlite")
        before = read_state(folder)
        self._ended_before = before.reason if before.is_terminal else ""
        self._state = RunState(
            supervisor_pid=os.getpid(),
            supervisor_start_ticks=start_ticks(os.getpid()),
            facts={**before.facts, **facts},
            exit_codes=dict.fromkeys(hosts),
            started_s=before.started_s,
            attempts=before.attempts,
        )

    @property
    def num_attempts(self) -> int:
        """Attempts that were begun."""
        return len(self._state.attempts)

    def take_over(self) -> None:
        """Say that this process watches over the run from now on."""
        self._change(state="InProgress", secondary="Starting")

    def begin(self) -> None:
        """Say that the instances are being started, for the first time or again."""
        now_s = time.time()
        attempts = (*self._ended_attempts(now_s), Attempt(started_s=now_s))
        first = {} if self._state.started_s else {"started_s": now_s}
        self._change(secondary="Starting", attempts=attempts, **first)
        if len(attempts) > 1:
            why, self._ended_before = self._ended_before.partition("\n")[0], ""
            words = why and f" Attempt {len(attempts) - 1} had ended: {readable(why)}"
            self.event("attempt", "", f"Attempt {len(attempts)} begins.{words}")

    def takes_steps(self) -> None:
        """Say that the trainers of this attempt have asked for their first batch."""
        *before, last = self._state.attempts
        self._change(attempts=(*before, replace(last, stepping_s=time.time())))

    def interrupted(self, reason: str) -> None:
        """Say that the instances were taken away, and that others are waited for."""
        attempts = self._ended_attempts(time.time(), interrupted_by=reason)
        codes = dict.fromkeys(self._state.exit_codes)
        self._change(secondary="Interrupted", attempts=attempts, exit_codes=codes)
        self.event("interruption", "", f"Attempt {len(attempts)} was interrupted. {reason}")

    def _ended_attempts(self, now_s: float, interrupted_by: str = "") -> tuple[Attempt, ...]:
        return with_end(self._state.attempts, now_s, interrupted_by)

    def started(self, started_s: float) -> None:
        """Say when the instances were started, where somebody else knows it better."""
        self._change(started_s=started_s)

    def tell(self, secondary: str, attempts: tuple[Attempt, ...]) -> None:
        """Keep what a platform says that starts instances by itself."""
        known = secondary if secondary in get_args(Secondary) else ""
        self._change(secondary=known, attempts=attempts)

    def stopping(self, reason: str) -> None:
        """Say that the instances are being ended early."""
        self._change(state="Stopping", reason=reason)

    def learn(self, facts: Mapping[str, object]) -> None:
        """Keep what is now known of how the run is carried out."""
        if facts:
            self._change(facts={**self._state.facts, **facts})

    def training(self) -> None:
        """Say that all instances were started."""
        self._change(secondary="Training")

    def instance_ended(self, host: str, ended: InstanceEnd) -> None:
        """Keep how one instance ended; a problem around it fails the run in the end."""
        self._problems += ended.problems
        self._change(
            exit_codes={**self._state.exit_codes, host: ended.exit.exit_code},
            facts={**self._state.facts, **ended.facts},
        )

    def event(self, kind: str, host: str, message: str) -> None:
        """Keep an event of the run as a whole."""
        self._events.append(
            EventRecord(time_s=time.time(), kind=kind, host=host, message=message)
        )

    def leave(self) -> None:
        """Keep what was said so far: somebody else starts the next attempt."""
        self._change(supervisor_pid=None, supervisor_start_ticks=None)
        self._events.close()

    def finish(
        self, ended: Outcome, *, last_words: str = "", ended_s: float | None = None
    ) -> None:
        """Write the last word on the run.

        Args:
            ended: How it ended.
            last_words: What the instance that decided it said last.
            ended_s: When its last instance ended, in seconds since the epoch; None: now.
        """
        # what was printed comes last: it may be lines
        told = self._without_a_step(ended.reason) or ended.reason
        parts = [told, *dict.fromkeys(self._problems), last_words]
        reason = readable(" ".join(filter(None, parts)))
        try:
            self.event("state", "", f"{ended.state}. {reason}".strip())
            self._events.close()
        except StoreError as error:
            reason = f"{reason} {error}".strip()
        failed = self._problems and ended.state == "Completed"
        ended_s = time.time() if ended_s is None else ended_s
        assert ended.state != "Interrupted"  # noqa: S101  then another attempt follows
        self._state = replace(
            self._state,
            state="Failed" if failed else ended.state,
            secondary=next((one for one in _LIMITS if ended.reason.startswith(one)), ""),
            reason=reason,
            ended_s=ended_s,
            attempts=self._ended_attempts(ended_s),
        )
        write_state(self._folder, self._state)

    def _without_a_step(self, reason: str) -> str:
        """Return why a run ended that no wait would help; empty: one might.

        Args:
            reason: Why it ended.
        """
        taken = [one for one in self._state.attempts if one.interrupted_by]
        files = self._folder.record_files(RANK_RECORDS)
        if not reason.startswith(_LIMITS[1]) or len(taken) < 2 or any(map(_has_steps, files)):
            return ""
        lived_s = max((one.ended_s or one.started_s) - one.started_s for one in taken)
        return (
            f"{_LIMITS[1]}: none of {len(self._state.attempts)} attempts came to a step, as "
            f"the instances went before the first one, after {lived_s:.1f} s at most. A longer "
            "max_wait does not help by itself. Take instances that live longer (of a market of "
            "this machine a greater mean_time_between_s), or on-demand instances, or let the "
            "script start faster."
        )

    def _change(self, **changes: Any) -> None:  # noqa: ANN401  fields of RunState
        self._state = replace(self._state, **changes)
        write_state(self._folder, self._state)
        if "state" in changes:
            self.event("state", "", f"{changes['state']}. {changes.get('reason', '')}".strip())


def _has_steps(records: Path) -> bool:
    from smtc_lab.store.steps.columns import StepColumns  # noqa: PLC0415  numpy, at few ends

    try:
        return StepColumns([records]).count() > 0
    except StoreError:
        return True  # nobody knows
