"""Finds metrics in what the entry points of an instance print, in a process of its own.

A regular expression may take for ever, and nothing else must wait for it: not the agent, which
ends the instance, and no trainer. So ``python -m`` this module reads the logs as they grow. It
ends with its standard input, once it has read to the end of all.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.machine.processes import descendants, die_with_parent, end_all, end_below
from smtc_lab.metrics.records.metric_record import LONGEST_NAME, MetricRecord, kept_value
from smtc_lab.metrics.records.records import EventRecord
from smtc_lab.neutral_text import neutral
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.sink import open_sink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.instance.description import InstanceDescription
    from smtc_lab.store.tables import RecordSink

LONGEST_LINE = 4096
"""Bytes of a line that are searched, at most."""

_LOOK_S = 0.2
_AT_ONCE = 256 * 1024
_SLOW_S = 1.0
"""Longest time for one expression and one line."""
_BEHIND_BYTES = 16 * 2**20
_END_S = 5.0
"""How long it may take at the end to read the rest."""
_LINE_END = re.compile(rb"[\r\n]+")


class PrintedMetrics:
    """What searches the logs of one instance; without definitions there is no process.

    Args:
        told: What the instance is told.
        folder: The run's folder.
    """

    def __init__(self, told: InstanceDescription, folder: RunFolder) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if not told.metric_definitions:
            return
        lone = len(told.trainers) <= 1
        ranks = [None if lone else each.rank for each in told.trainers] or [None]
        logs = [folder.log_file(told.host, rank) for rank in ranks]
        given = {
            "folder": str(folder.path),
            "host": told.host,
            # an attempt before this one was searched then
            "logs": {str(path): path.stat().st_size if path.exists() else 0 for path in logs},
            "definitions": told.metric_definitions,
        }
        self._process = subprocess.Popen(  # noqa: S603  ourselves
            [sys.executable, "-m", __name__, json.dumps(given)],
            stdin=subprocess.PIPE,
            preexec_fn=die_with_parent,  # noqa: PLW1509  no thread yet
        )

    def end_others(self, grace_s: float, collect: Callable[[], object]) -> None:
        """End what is below this process, but not what searches: they may still print."""
        process = self._process
        if process is None:
            end_below(grace_s=grace_s, collect=collect)
            return

        def members() -> list[int]:
            collect()
            return [pid for pid in descendants(os.getpid()) if pid != process.pid]

        end_all(members, grace_s=grace_s)

    def close(self) -> list[str]:
        """Let it read to the end, and end it; return what is wrong.

        Called when all entry points have ended.
        """
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return []
        process.stdin.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            late = (
                "What was printed last was not searched for metrics: metric_definitions did "
                f"not end within {_END_S:.0f} s. Make their Regex simpler, or print less."
            )
            return [late]
        return []


class _TooSlowError(Exception):
    """One expression took too long for one line."""


@dataclass
class _Definition:
    name: str
    search: Callable[[str], re.Match[str] | None]
    took_s: float = 0.0


class _Log:
    """A log that grows, read line by line from some byte on."""

    def __init__(self, path: Path, at: int) -> None:
        self._path, self._at = path, at
        self._rest = b""

    @property
    def behind_bytes(self) -> int:
        """How much of it was not read yet."""
        return (self._path.stat().st_size if self._path.exists() else 0) - self._at

    def lines(self, *, is_last: bool) -> Iterator[bytes]:
        """Yield what was printed since, cut; an unfinished line once it is the last."""
        with contextlib.suppress(FileNotFoundError), self._path.open("rb") as file:
            file.seek(self._at)
            piece = file.read(_AT_ONCE)
            self._at += len(piece)
            *whole, rest = _LINE_END.split(self._rest + piece)
            self._rest = rest[:LONGEST_LINE]
            yield from (line[:LONGEST_LINE] for line in whole if line)
        if is_last and self.behind_bytes <= 0 and self._rest:
            yield self._rest
            self._rest = b""


class _Search:
    """Keeps the values that definitions find."""

    def __init__(self, host: str, sink: RecordSink, definitions: list[dict[str, str]]) -> None:
        self._host, self._sink = host, sink
        self._definitions = [
            _Definition(
                neutral(each["Name"], longest=LONGEST_NAME), re.compile(each["Regex"]).search
            )
            for each in definitions
        ]
        self._is_matching = False
        self._has_told = False
        signal.signal(signal.SIGALRM, self._interrupt)

    def take(self, line: bytes) -> None:
        """Keep what is found in a line; an expression that takes too long is left out then."""
        text = line.decode("utf-8", "replace")
        for each in list(self._definitions):
            began_s = time.perf_counter()
            found = None
            try:
                signal.setitimer(signal.ITIMER_REAL, _SLOW_S)
                self._is_matching = True
                found = each.search(text)
                self._is_matching = False
            except _TooSlowError:
                self._definitions.remove(each)
                self._warn(
                    f"The metric definition {each.name[:80]!r} took over {_SLOW_S:.0f} s for "
                    "one line, so it finds nothing more in this run. Make its Regex simpler: "
                    "no repeat within a repeat, as (a+)+ is."
                )
            each.took_s += time.perf_counter() - began_s
            with contextlib.suppress(ValueError, TypeError):
                if found is not None:
                    row = (None, time.time(), each.name, *kept_value(float(found[1])))
                    self._sink.append_values(MetricRecord, row)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def tell_behind(self, behind_bytes: int) -> None:
        """Say once that more is printed than can be searched."""
        if self._has_told or behind_bytes < _BEHIND_BYTES or not self._definitions:
            return
        self._has_told = True
        slowest = max(self._definitions, key=lambda each: each.took_s)
        self._warn(
            f"{behind_bytes / 2**20:.0f} MiB of what was printed on {self._host} are still to "
            f"be searched for metrics; {slowest.name[:80]!r} takes longest. Values come late. "
            "Make its Regex simpler, or print less."
        )

    def _interrupt(self, *_: Any) -> None:  # noqa: ANN401  a signal handler's
        if self._is_matching:
            self._is_matching = False
            raise _TooSlowError

    def _warn(self, message: str) -> None:
        event = EventRecord(
            time_s=time.time(), kind="warning", host=self._host, message=message
        )
        self._sink.append(event)


def main(given: str) -> None:
    """Search the logs of an instance until standard input ends, then their rest."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends with what it is read for
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(10)
    told = json.loads(given)
    folder, host = RunFolder(Path(told["folder"])), told["host"]
    logs = [_Log(Path(path), at) for path, at in told["logs"].items()]
    sink = open_sink(folder.system_records(host, "printed"))
    search = _Search(host, sink, told["definitions"])
    is_last = False
    while True:
        behind = sum(log.behind_bytes for log in logs)
        if is_last and behind <= 0:
            break
        if not is_last:
            heard, _, _ = select.select([0], [], [], 0 if behind > 0 else _LOOK_S)
            is_last = bool(heard)
        search.tell_behind(behind)
        for log in logs:
            for line in log.lines(is_last=is_last):
                search.take(line)
    sink.close()


if __name__ == "__main__":
    main(sys.argv[1])
