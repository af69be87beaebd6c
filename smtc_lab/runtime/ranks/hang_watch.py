"""Sees that the trainers of an instance have stood still together, and which one they wait for.

Trainers that train one model wait for each other at every step, so one that hangs holds all
up, and by itself none ends before torch's limit (10 minutes or more). A pause between steps is
no hang: while any of them asks for batches or computes, all is well. It is a warning; a run is
ended only where its job asks for that.
"""

from __future__ import annotations

import os
import re
import statistics
import time
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from smtc_lab.instance.progress import StepCounters, progress_file
from smtc_lab.instance.variables import HUNG_AFTER_SETTING, STACKS_SIGNAL
from smtc_lab.machine.processes import TreeClock, descendants, send_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.instance.description import InstanceDescription
    from smtc_lab.runtime.entry_point import EntryPoint
    from smtc_lab.store.run_folder import RunFolder

LOOK_S = 1.0
"""Time between two looks, in seconds."""

_WARN_AFTER_S = 30.0
_MEDIANS = 20
_IDLE_FRACTION = 0.02
"""Share of a core that a trainer's threads use while it does nothing."""

_STARVED_FRACTION = 0.5
"""Share of a time in which one that computes stands in line where it gets hardly any CPU. Those
that do nothing wake now and then, and stand in line as well where others keep the cores."""

_OTHERS_S = 5.0
_STACKS_LIMIT_S = 2.0
_CURRENT = re.compile(r'^Current thread .*\n +File "([^"]+)"', re.MULTILINE)

_FRAME = re.compile(r'^  File "(.*)", line ([0-9]+) in (.*)$', re.MULTILINE)
"""A frame of a stack, the innermost first: file, line and function."""


@dataclass(frozen=True, kw_only=True)
class Hung:
    """Trainers that stand still."""

    seconds: float
    """For how long, in seconds."""

    culprit: EntryPoint | None
    """The one that the others wait for; None: it is none of this instance."""

    stack: str = ""
    """Its stack, as Python writes it when it is asked; empty: it wrote none."""

    def say_where(self, told: InstanceDescription, folder: RunFolder) -> None:
        """Write where in the script it is, where others write why they failed.

        Raises:
            OSError: It cannot be written.
        """
        if where := self._where(told):
            folder.failure_file(told.host).write_text(f"It hangs in {where}", "utf-8")

    def warning(self, told: InstanceDescription) -> str:
        """Return what people are told of it while the run goes on."""
        since = datetime.fromtimestamp(time.time() - self.seconds, UTC)
        moment = f"since {since:%H:%M:%S} UTC ({self.seconds:.0f} s)"
        if self.culprit is None:
            said = (
                f"All trainers of {told.host} have stood still {moment}: they wait inside "
                "torch, for each other or for another instance."
            )
        else:
            where = self._where(told)
            said = (
                f"Rank {self.culprit.rank} on {told.host} has stood still {moment}"
                f"{where and f', in {where}'}, and the others wait for it."
            )
        return (
            f"{said} The stacks of all ranks are in their logs. The run goes on; "
            f"{HUNG_AFTER_SETTING} in the job's environment would end it."
        )

    def _where(self, told: InstanceDescription) -> str:
        """Return function, file and line of the script where it is; empty: not known."""
        beside = f"{os.path.dirname(told.command[-1])}{os.sep}"  # noqa: PTH120  it is a text
        for path, line, name in _FRAME.findall(self.stack):
            if path.startswith(beside):
                return f"{name} ({path.removeprefix(beside)}, line {line})"
        return ""


class HangWatch:
    """Watches the trainers of one instance, where the job has several.

    Args:
        told: What the instance is told.
        folder: The run's folder.
        entry_points: Its trainers.
        now: Returns the time, in seconds from any moment.
        make_clock: Makes what tells the CPU time of processes.
    """

    def __init__(
        self,
        told: InstanceDescription,
        folder: RunFolder,
        entry_points: Sequence[EntryPoint],
        *,
        now: Callable[[], float] = time.monotonic,
        make_clock: Callable[[], TreeClock] = TreeClock,
    ) -> None:
        self._now, self._make_clock = now, make_clock
        limit_s = float(told.environment.get(HUNG_AFTER_SETTING, _WARN_AFTER_S))
        is_wanted = (
            told.rendezvous is not None and told.rendezvous.world_size > 1 and limit_s > 0
        )
        self.ends_the_run = HUNG_AFTER_SETTING in told.environment
        """Whether the job wants to be ended where its trainers stand still."""
        self._trainers = list(entry_points) if is_wanted else []
        self._limit_s = limit_s
        self._logs = [folder.log_file(told.host, each.rank) for each in self._trainers]
        self._progress = [
            StepCounters(progress_file(folder, told.host, trainer.rank))
            for trainer in told.trainers[: len(self._trainers)]
        ]
        self._seen: list[tuple[int, int]] = []
        self._moved_s = self._stepped_s = self._idle_since_s = now()
        self._step_times: deque[float] = deque(maxlen=100)
        self._clock = make_clock()
        self._used_s = self._waited_s = 0.0
        self._has_others = told.rendezvous is not None and told.rendezvous.num_groups > 1
        self._found: Hung | None = None
        self._found_s = 0.0
        self._told: Hung | None = None

    @property
    def is_on(self) -> bool:
        """Whether there is anything to watch."""
        return bool(self._trainers)

    def look(self) -> Hung | None:
        """Return who stands still; None: nobody, or not for long enough."""
        now_s = self._now()
        seen = [(each.num_steps, each.num_signs) for each in self._progress]
        if seen != self._seen:
            self._moved(seen, now_s)
            self._found = None
            return None
        if self._found is None:
            self._found, self._found_s = self._looked_closer(now_s), now_s
        hung = self._found
        # where all of these wait, those of another instance have five seconds to tell why
        waits = hung is not None and hung.culprit is None and self._has_others
        return None if waits and now_s - self._found_s < _OTHERS_S else hung

    def news(self) -> Hung | None:
        """Return who stands still, once until they have moved; None: nobody, or it was told."""
        hung = self.look()
        is_news, self._told = hung is not self._told, hung
        return hung if is_news else None

    def _looked_closer(self, now_s: float) -> Hung | None:
        """Return who stands still, of trainers that have given no sign for a while."""
        half_s = self._limit() / 2
        if not self._all_train() or now_s - self._moved_s < half_s:
            return None
        if self._idle_since_s < self._moved_s:
            self._begin_idle(now_s)
        window_s = now_s - self._idle_since_s
        if window_s < half_s:
            return None
        used_s, waited_s = self._clock.look(self._pids())
        if (
            used_s - self._used_s > _IDLE_FRACTION * window_s * len(self._trainers)
            or waited_s - self._waited_s > _STARVED_FRACTION * window_s
        ):
            self._begin_idle(now_s)
            return None
        culprit, stack = self._culprit()
        return Hung(seconds=now_s - self._moved_s, culprit=culprit, stack=stack)

    def _all_train(self) -> bool:
        """Return whether every trainer has taken a step, and none its last one."""
        return all(steps for steps, _ in self._seen) and not any(
            each.exit_code is not None or each.is_done for each in self._trainers
        )

    def _moved(self, seen: list[tuple[int, int]], now_s: float) -> None:
        steps = max(steps for steps, _ in seen)
        before = max((steps for steps, _ in self._seen), default=0)
        if steps > before:
            if before:
                self._step_times.append((now_s - self._stepped_s) / (steps - before))
            self._stepped_s = now_s
        self._seen, self._moved_s = seen, now_s

    def _limit(self) -> float:
        if not self._step_times:
            return self._limit_s
        return max(self._limit_s, _MEDIANS * statistics.median(self._step_times))

    def _begin_idle(self, now_s: float) -> None:
        self._clock, self._idle_since_s = self._make_clock(), now_s
        self._used_s, self._waited_s = self._clock.look(self._pids())

    def _pids(self) -> list[int]:
        return descendants(os.getpid())

    def _culprit(self) -> tuple[EntryPoint | None, str]:
        """Have every trainer write its stacks; return who does not just wait, and its own."""
        begins = [log.stat().st_size for log in self._logs]
        send_signal([each.pid for each in self._trainers if each.pid], STACKS_SIGNAL)
        until_s = self._now() + _STACKS_LIMIT_S
        stacks = [""] * len(self._logs)
        while not all(map(_CURRENT.search, stacks)) and self._now() < until_s:
            time.sleep(0.05)  # whoever writes them can tell nobody
            stacks = [
                log.read_bytes()[begin:].decode(errors="replace")
                for log, begin in zip(self._logs, begins, strict=True)
            ]
        steps = [steps for steps, _ in self._seen]
        places = range(len(stacks))
        suspects = [place for place in places if not _waits_in_torch(stacks[place])]
        if not suspects and min(steps) == max(steps):
            return None, ""
        place = min(suspects or places, key=lambda place: steps[place])
        return self._trainers[place], stacks[place]


def _waits_in_torch(stack: str) -> bool:
    """Return whether a trainer waits inside torch: for the others, as far as can be told.

    One that writes no stack was stopped, and hangs itself.
    """
    current = _CURRENT.search(stack)
    return current is not None and f"{os.sep}torch{os.sep}" in current[1]
