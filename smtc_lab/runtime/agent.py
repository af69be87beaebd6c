"""The agent of one instance: runs its entry points, and leaves no process behind.

Started as ``python -m smtc_lab.runtime.agent <agent.json>`` by every launcher. Its standard
input is a lifeline: when that ends (whoever holds it went away, even by SIGKILL) the instance
ends. It adopts the orphans among its descendants, so nothing escapes by daemonising. The
trainers of an instance end together: with the first one that fails, or when all have ended
well. How they did is written to ``exit.json`` before the agent ends.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import EntryPointError, StoreError
from smtc_lab.instance.description import InstanceDescription
from smtc_lab.instance.instance_exit import InstanceExit
from smtc_lab.instance.prepare import prepare_instance
from smtc_lab.machine.processes import (
    become_subreaper,
    descendants,
    end_below,
    reap,
    signals_as_bytes,
)
from smtc_lab.machine.socket_traffic import one_listens
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.runtime.cpu.cpu_limit import CpuLimit
from smtc_lab.runtime.entry_point import WENT_ON, EntryPoint, over_at
from smtc_lab.runtime.own_metrics.printed import PrintedMetrics
from smtc_lab.runtime.ranks.hang_watch import LOOK_S, HangWatch
from smtc_lab.runtime.ranks.step_counts import unequal_steps
from smtc_lab.runtime.starting.entry_points import EntryPoints
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.sink import open_sink

if TYPE_CHECKING:
    from smtc_lab.runtime.ranks.hang_watch import Hung
    from smtc_lab.store.tables import RecordSink

READY_LIMIT_S = 120.0
"""A quota applies when every entry point says that it begins to work, or listens where it
brings a data server; at the latest now."""

_LISTEN_LOOK_S = 0.2
"""How often a data instance that runs the script is asked whether its own server listens."""

_LEAVE_LIMIT_S = 1.0
"""How long one of several trainers may take to end once its script has failed; and any, once
it was told to after the job's last step."""


class Agent:
    """Runs one instance from its begin to the death of its last process."""

    def __init__(self, told: InstanceDescription) -> None:
        self._told = told
        self._folder = RunFolder(Path(told.run_folder))
        self._entry_points: list[EntryPoint] = []
        self._cpu = CpuLimit(told, self._folder)
        self._printed = PrintedMetrics(told, self._folder)
        self._events = selectors.DefaultSelector()
        self._started: EntryPoints | None = None
        self._writer: RecordSink | None = None
        self._problems: list[str] = []
        self._asked_to_stop = False
        self._hang_watch: HangWatch | None = None
        self._hung: Hung | None = None
        self._stop_s: float | None = None
        """When entry points were asked to end, by the monotonic clock; None: they were not."""

    def run(self) -> InstanceExit:
        """Run the entry points and return how they ended, once nothing of them is left."""
        wake = signals_as_bytes()
        try:
            self._start()
            decisive = self._wait(wake)
        finally:
            self._end()
        hung, code = self._hung, decisive.decisive_code
        if said := unequal_steps(self._told, self._folder, self._entry_points, decisive):
            self._problems.append(said)
        if hung is not None:
            code = 1
            with contextlib.suppress(OSError):
                hung.say_where(self._told, self._folder)
        elif decisive.last_step_s or (
            len(self._entry_points) > 1 and code and not decisive.has_said_why
        ):  # what it says counts no more, or is of one that failed because this one had
            self._folder.failure_file(self._told.host).unlink(missing_ok=True)
        is_named = code != 0 and (hung is None or hung.culprit is not None)
        return InstanceExit(
            exit_code=code if code >= 0 else 128 - code,
            signal=-code if code < 0 else None,
            rank=decisive.rank if is_named else None,
            failed_at_s=self._failure_time(decisive),
            hung_s=None if hung is None else hung.seconds,
            asked_to_stop=self._asked_to_stop,
            cpu_quota_mechanism=(
                "none" if self._told.cpu_quota_cores is None else self._cpu.quota.name
            ),
            problems=self._problems,
        )

    def _start(self) -> None:
        """Start the entry points, then the sampler."""
        told = self._told
        prepare_instance(told, self._folder)
        if not os.access(told.command[0], os.X_OK):
            raise EntryPointError(
                f"The entry point was not started: its interpreter {told.command[0]!r} is "
                "gone. Bring its environment back, or name another python_environment."
            )
        self._started = EntryPoints(told, self._folder, self._cpu.quota)
        self._entry_points = self._cpu.entry_points = self._started.all
        self._hang_watch = HangWatch(told, self._folder, self._entry_points)
        try:
            self._writer = open_sink(self._folder.system_records(told.host))
            self._cpu.sample(self._writer)
        except StoreError as error:
            self._problems.append(str(error))

    def _wait(self, wake: int) -> EntryPoint:
        """Wait for the end of the entry points, or of the lifeline; return the decisive one."""
        lifeline = sys.stdin.fileno()
        listening = {entry_point.ready for entry_point in self._entry_points}
        for descriptor in (wake, lifeline, *listening):
            self._events.register(descriptor, selectors.EVENT_READ)
        starting = set(listening)
        quota_at = time.monotonic() + READY_LIMIT_S
        is_due = self._told.cpu_quota_cores is not None
        while True:
            timeout = self._patience_s(quota_at if is_due else None)
            heard = {key.fd for key, _ in self._events.select(timeout)}
            starting -= heard
            if is_due and self._told.runs_script and one_listens(descendants(os.getpid())):
                starting.clear()
            if is_due and (not starting or time.monotonic() >= quota_at):
                is_due = False
                if (problem := self._cpu.apply()) is not None:
                    self._problems.append(problem)
            self._listen(listening & heard)
            if wake in heard and (decisive := self._heard_signal(wake)) is not None:
                return decisive
            if self._asked_to_stop or (lifeline in heard and not os.read(lifeline, 64)):
                self._asked_to_stop = True
                self._stop()
                return self._failed() or self._entry_points[0]
            if (decisive := self._late()) is not None:
                return decisive

    def _heard_signal(self, wake: int) -> EntryPoint | None:
        """Return the entry point whose end decides, when there is one: the others end, too."""
        numbers = os.read(wake, 4096)
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self._asked_to_stop = True
        self._collect()
        self._listen({each.ready for each in self._entry_points if each.exit_code is not None})
        running = [each for each in self._entry_points if each.exit_code is None]
        if self._failed() is not None and running:
            self._stop()
        return self._failed() or (None if running else self._entry_points[0])

    def _patience_s(self, quota_at: float | None) -> float | None:
        """Return how long to wait for something to be heard; None: for ever."""
        waits = [
            at - time.monotonic()
            for at in (quota_at, over_at(self._entry_points))
            if at is not None
        ]
        if quota_at is not None and self._told.runs_script:
            waits.append(_LISTEN_LOOK_S)
        if self._failing():
            waits.append(_LEAVE_LIMIT_S / 4)
        elif self._hang_watch is not None and self._hang_watch.is_on:
            waits.append(LOOK_S)
        return max(0.0, min(waits)) if waits else None

    def _failing(self) -> list[EntryPoint]:
        """Return the entry points that have failed, and not ended yet."""
        return [it for it in self._entry_points if it.has_said_why and it.exit_code is None]

    def _late(self) -> EntryPoint | None:
        """Return the trainer whose end or standstill holds others up; None: there is none."""
        for failing in self._failing():
            if time.monotonic() - (failing.failed_s or 0.0) > _LEAVE_LIMIT_S:
                self._stop()
                return self._failed()
        if (over_s := over_at(self._entry_points)) is not None and time.monotonic() >= over_s:
            self._tell(next(it for it in self._entry_points if it.exit_code is None), WENT_ON)
            self._stop(_LEAVE_LIMIT_S)
            return self._failed() or self._entry_points[0]
        watch = self._hang_watch
        if watch is None or not watch.is_on or (hung := watch.news()) is None:
            return None
        if not watch.ends_the_run:
            self._tell(hung.culprit or self._entry_points[0], hung.warning(self._told))
            return None
        self._hung = hung
        decisive = hung.culprit or self._entry_points[0]
        decisive.failed_s = time.monotonic()
        self._stop()
        return decisive

    def _tell(self, of: EntryPoint, message: str) -> None:
        """Warn people of something, in the run's events and in the log of an entry point."""
        told = self._told
        log = self._folder.log_file(told.host, of.rank)
        with contextlib.suppress(OSError), log.open("a", encoding="utf-8") as file:
            file.write(f"smtc-lab: {message}\n")
        event = EventRecord(time_s=time.time(), kind="warning", host=told.host, message=message)
        with contextlib.suppress(StoreError):  # a full disk is told in the end
            if self._writer is not None:
                self._writer.append(event)

    def _listen(self, heard: set[int]) -> None:
        """Hear what entry points say; silence tells nothing, they may have closed it."""
        for entry_point in self._entry_points:
            if entry_point.ready not in heard:
                continue
            with contextlib.suppress(BlockingIOError, KeyError):  # nothing, or its end before
                entry_point.hear(said := os.read(entry_point.ready, 256))
                if not said:
                    self._events.unregister(entry_point.ready)
        self._lift_when_done()

    def _collect(self) -> None:
        """Take note of the entry points that have ended."""
        codes = dict(reap())
        if self._started is not None:
            self._started.collect(codes, was_asked=self._stop_s is not None)

    def _failed(self) -> EntryPoint | None:
        """Return the entry point that failed first, of those that have ended; None: none."""
        failed = [each for each in self._entry_points if each.exit_code]
        return min(failed, key=lambda each: each.blamed_s, default=None)

    def _failure_time(self, decisive: EntryPoint) -> float | None:
        """Return when it failed by itself, in seconds since the epoch; None: it did not."""
        failed_s = decisive.failed_s
        if failed_s is None or (self._stop_s is not None and failed_s > self._stop_s):
            return None
        return time.time() - (time.monotonic() - decisive.blamed_s)

    def _lift_when_done(self) -> None:
        """Lift the quota once no entry point takes a further step, as there was none before."""
        if all(each.exit_code is not None or each.is_done for each in self._entry_points):
            self._cpu.lift()

    def _stop(self, most_s: float = math.inf) -> None:
        """End the entry points that still run, in good order, within so many seconds."""
        self._cpu.lift()
        if self._stop_s is None:
            self._stop_s = time.monotonic()
        self._printed.end_others(min(self._told.grace_s, most_s), self._collect)
        self._collect()
        for entry_point in self._entry_points:
            if entry_point.exit_code is None:
                entry_point.ended(-signal.SIGKILL, was_asked=True)

    def _end(self) -> None:
        """End what the entry points left behind, and close what the agent holds."""
        self._problems += self._printed.close()
        end_below(grace_s=0.0)
        self._cpu.close()
        if self._writer is not None:
            try:
                self._writer.close()
            except StoreError as error:
                self._problems.append(str(error))


def main(path: str) -> int:
    """Run the agent that a file describes; return the entry point's exit code."""
    become_subreaper()
    values = json.loads(Path(path).read_text(encoding="utf-8"))
    folder, host = RunFolder(Path(values["run_folder"])), values["host"]
    try:
        ended = Agent(InstanceDescription.from_values(values)).run()
    except EntryPointError as error:
        ended = InstanceExit(exit_code=1, cpu_quota_mechanism="none", problems=[str(error)])
    except Exception as error:  # noqa: BLE001  the only one who knows why must say it
        traceback.print_exc()
        problem = f"The agent of {host} failed: {type(error).__name__}: {error}."
        ended = InstanceExit(exit_code=1, cpu_quota_mechanism="none", problems=[problem])
    ended.write(folder, host)
    return ended.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
