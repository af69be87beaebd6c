"""The supervisor of one local run: starts its agents, ends them together, has the last word.

Started as ``python -m smtc_lab.launch.supervisor <run folder>``. Its standard input is a
lifeline to the process that launched the run; a detached run has none. SIGTERM stops the run.
"""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import StoreError
from smtc_lab.launch.gang import Exit, Outcome, outcome
from smtc_lab.machine.cgroups import remove_leftover_groups
from smtc_lab.machine.processes import (
    become_subreaper,
    descendants,
    end_all,
    reap,
    signals_as_bytes,
    start_ticks,
)
from smtc_lab.machine.wakefulness import AWAKE_VARIABLE, keep_cores_awake
from smtc_lab.metrics.records import EventRecord
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import RunState, write_state
from smtc_lab.store.writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATIENCE_S = 0.7
"""How long after its grace an agent may take to end its instance before it is killed."""


class Supervisor:
    """Watches over one run from its begin to the death of its last process."""

    def __init__(self, folder: RunFolder, plan: Mapping[str, Any], *, detached: bool) -> None:
        self._folder = folder
        self._roles = {item["host"]: item["role"] for item in plan["instances"]}
        self._groups = {item["host"]: item["instance_group_name"] for item in plan["instances"]}
        self._is_emulated = any(item["cpu_quota_cores"] for item in plan["instances"])
        self._grace_s = float(plan["grace_s"])
        self._limit_s = float(plan["max_runtime_s"])
        self._detached = detached
        self._agents: dict[int, str] = {}
        self._lifelines: dict[str, int] = {}
        self._exits: dict[str, Exit] = {}
        self._problems: list[str] = []
        self._stop_signal = False
        self._awake_fd: int | None = None
        self._state = RunState(
            supervisor_pid=os.getpid(),
            supervisor_start_ticks=start_ticks(os.getpid()),
            facts=dict(plan["facts"]),
            exit_codes=dict.fromkeys(self._roles),
        )

    def run(self) -> None:
        """Run the job to its end."""
        wake = signals_as_bytes()
        if self._is_emulated:  # before the first thread, because it forks
            self._awake_fd = keep_cores_awake()
        self._events = RecordWriter(self._folder.records / "run.sqlite")
        self._change(state="InProgress", started_s=time.time())
        ended = Outcome(state="Failed", reason="The instances could not be started.")
        try:
            for host in self._roles:
                self._start(host)
            ended = self._watch(wake)
        finally:
            if ended.state == "Stopped":
                self._change(state="Stopping", reason=ended.reason)
            self._end_instances()
            self._finish(ended)

    def _start(self, host: str) -> None:
        """Start the agent of one instance, holding its lifeline."""
        config = str(self._folder.instance(host) / "agent.json")
        lifeline, write_end = os.pipe2(os.O_CLOEXEC)
        awake = () if self._awake_fd is None else (self._awake_fd,)
        with (self._folder.logs / f"{host}.agent.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  our own module, no shell
                [sys.executable, "-m", "smtc_lab.runtime.agent", config],
                stdin=lifeline,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=awake,
                env={**os.environ, AWAKE_VARIABLE: "".join(map(str, awake))},
            )
        os.close(lifeline)
        self._agents[process.pid] = host
        self._lifelines[host] = write_end

    def _watch(self, wake: int) -> Outcome:
        """Wait until something decides how the job ends."""
        heard_from = selectors.DefaultSelector()
        heard_from.register(wake, selectors.EVENT_READ)
        if not self._detached:
            heard_from.register(sys.stdin.fileno(), selectors.EVENT_READ)
        deadline = time.monotonic() + self._limit_s
        while True:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return Outcome(
                    state="Stopped",
                    reason=(
                        f"MaxRuntimeExceeded: the run took longer than max_runtime_s="
                        f"{self._limit_s:g}. Raise it, or give the job fewer steps."
                    ),
                )
            heard = {key.fd for key, _ in heard_from.select(left_s)}
            if wake in heard:
                numbers = os.read(wake, 4096)
                self._stop_signal |= signal.SIGTERM in numbers or signal.SIGINT in numbers
                self._collect_exits()
            ended = outcome(self._exits, self._roles, self._groups)
            if ended is not None:
                return ended
            if self._stop_signal:
                return Outcome(state="Stopped", reason="The run was stopped by its user.")
            if not self._detached and sys.stdin.fileno() in heard and not os.read(0, 64):
                return Outcome(
                    state="Stopped",
                    reason=(
                        "The process that launched the run ended, so the run ended too. Start "
                        "it with detach=True to let it go on."
                    ),
                )

    def _collect_exits(self) -> None:
        """Take note of the instances whose agent has ended."""
        for pid, code in reap():
            host = self._agents.pop(pid, None)
            if host is None:
                continue
            ended = self._read_exit(host, code)
            self._exits[host] = ended
            codes = {**self._state.exit_codes, host: ended.exit_code}
            self._change(exit_codes=codes)

    def _read_exit(self, host: str, agent_code: int) -> Exit:
        path = self._folder.instance(host) / "exit.json"
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            killed_by = -agent_code if agent_code < 0 else None
            return Exit(exit_code=agent_code % 256 or 1, agent_signal=killed_by)
        self._problems += values["problems"]
        facts = {**self._state.facts, "cpu_quota_mechanism": values["cpu_quota_mechanism"]}
        self._state = replace(self._state, facts=facts)
        return Exit(exit_code=values["exit_code"], signal=values["signal"])

    def _end_instances(self) -> None:
        """End every instance: its agent first, then whatever an agent could not end."""
        for lifeline in self._lifelines.values():
            os.close(lifeline)
        deadline = time.monotonic() + self._grace_s + _PATIENCE_S
        while self._agents and time.monotonic() < deadline:
            self._collect_exits()
            time.sleep(0.01)  # the wake-up pipe may have been drained already

        def members() -> list[int]:
            self._collect_exits()
            return descendants(os.getpid())

        end_all(members, grace_s=0.0)
        remove_leftover_groups(f"{self._folder.job_name}-")

    def _finish(self, ended: Outcome) -> None:
        reason = ended.reason
        if ended.host:
            reason = f"{reason} {self._last_words(ended.host)}".strip()
        if self._problems:
            reason = " ".join([reason, *dict.fromkeys(self._problems)]).strip()
        try:
            self._event("state", "", f"{ended.state}. {reason}".strip())
            self._events.close()
        except StoreError as error:
            reason = f"{reason} {error}".strip()
        state = "Failed" if self._problems and ended.state == "Completed" else ended.state
        self._change(state=state, reason=reason, ended_s=time.time(), record=False)

    def _last_words(self, host: str) -> str:
        """Return what the entry point said of its failure, or the end of its log."""
        try:
            failure = self._folder.opt_ml(host) / "output" / "failure"
            return f"{failure.read_text(encoding='utf-8', errors='replace').strip()}."
        except OSError:
            line = last_line(self._folder.log_file(host))
            return f"The last line of its log: {line}" if line else ""

    def _change(self, *, record: bool = True, **changes: Any) -> None:  # noqa: ANN401  fields of RunState
        self._state = replace(self._state, **changes)
        write_state(self._folder, self._state)
        if record and "state" in changes:
            self._event("state", "", f"{changes['state']}. {changes.get('reason', '')}".strip())

    def _event(self, kind: str, host: str, message: str) -> None:
        self._events.append(
            EventRecord(time_s=time.time(), kind=kind, host=host, message=message)
        )


def last_line(log: Path) -> str:
    """Return the last line of a log that says something, at most 500 characters."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 8192))
            lines = file.read().decode("utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][:500] if said else ""


def main(path: str, *, detached: bool) -> int:
    """Supervise the run in a folder; return 0, or 1 when another supervisor has it."""
    become_subreaper()
    folder = RunFolder(Path(path))
    lock = os.open(folder.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 1
    plan = json.loads(folder.plan_file.read_text(encoding="utf-8"))
    Supervisor(folder, plan, detached=detached).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], detached="--detached" in sys.argv[2:]))
