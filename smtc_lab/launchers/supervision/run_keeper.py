"""Writes down what becomes of a run, for everybody who looks at its folder."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import StoreError
from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.store.said import readable
from smtc_lab.store.state import RunState, write_state
from smtc_lab.store.writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from smtc_lab.launchers.supervision.gang import Outcome
    from smtc_lab.launchers.supervision.instances import InstanceEnd
    from smtc_lab.store.run_folder import RunFolder


class RunKeeper:
    """Keeps a run's state and its events. One for a run: that of its supervisor."""

    def __init__(
        self, folder: RunFolder, *, hosts: Iterable[str], facts: Mapping[str, object]
    ) -> None:
        self._folder = folder
        self._problems: list[str] = []
        self._events = RecordWriter(folder.records / "run.sqlite")
        self._state = RunState(
            supervisor_pid=os.getpid(),
            supervisor_start_ticks=start_ticks(os.getpid()),
            facts=dict(facts),
            exit_codes=dict.fromkeys(hosts),
        )

    def begin(self) -> None:
        """Say that the instances are being started."""
        self._change(state="InProgress", started_s=time.time())

    def started(self, started_s: float) -> None:
        """Say when the instances were started, where somebody else knows it better."""
        self._change(started_s=started_s)

    def stopping(self, reason: str) -> None:
        """Say that the instances are being ended early."""
        self._change(state="Stopping", reason=reason)

    def learn(self, facts: Mapping[str, object]) -> None:
        """Keep what is now known of how the run is carried out."""
        if facts:
            self._change(facts={**self._state.facts, **facts})

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
        parts = [ended.reason, *dict.fromkeys(self._problems), last_words]
        reason = readable(" ".join(filter(None, parts)))
        try:
            self.event("state", "", f"{ended.state}. {reason}".strip())
            self._events.close()
        except StoreError as error:
            reason = f"{reason} {error}".strip()
        failed = self._problems and ended.state == "Completed"
        self._state = replace(
            self._state,
            state="Failed" if failed else ended.state,
            reason=reason,
            ended_s=time.time() if ended_s is None else ended_s,
        )
        write_state(self._folder, self._state)

    def _change(self, **changes: Any) -> None:  # noqa: ANN401  fields of RunState
        self._state = replace(self._state, **changes)
        write_state(self._folder, self._state)
        if "state" in changes:
            self.event("state", "", f"{changes['state']}. {changes.get('reason', '')}".strip())
