"""Calibrates in a process of its own, once for all views of this process."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from smtc_lab.neutral_text import neutral

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

_LONGEST = 2000
_PROGRAM = "smtc_lab.planner.forecast.calibrating"


@dataclass(frozen=True, kw_only=True)
class Calibrating:
    """How far a calibration is that was begun here."""

    state: Literal["idle", "calibrating", "stopping", "done", "stopped", "failed"] = "idle"
    """``idle``: nobody asked for one in this process. ``stopping``: it was asked to end."""

    sentence: str = ""
    """What is being done, or why it failed; empty: there is nothing to say."""

    launch: int = 0
    """Number of the launch that runs now, from 1; 0: none has begun."""

    launches: int = 0
    """Launches in all; 0: not known yet."""

    @property
    def is_going_on(self) -> bool:
        """Whether its process has not ended."""
        return self.state in {"calibrating", "stopping"}


class Calibrator:
    """Calibrates workloads when it is asked to. May be used by several threads.

    Its process neither waits for this one nor outlives it, however busy this one is or however
    it ends. While it goes on, asking again changes nothing.
    """

    def __init__(self) -> None:
        self._calibrating = Calibrating()
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def calibrating(self) -> Calibrating:
        """How far it is."""
        return self._calibrating

    def start(self, jobs: Sequence[TrainingJob], *, root: Path, seconds: float) -> Calibrating:
        """Begin to calibrate, and return at once how far it is.

        Args:
            jobs: One for each workload, with absolute paths; none: nothing is begun.
            root: Folder of runs.
            seconds: How long each launch measures.
        """
        asked = {
            "jobs": [job.model_dump(mode="json") for job in jobs],
            "root": str(root),
            "seconds": seconds,
        }
        with self._lock:
            if self._calibrating.is_going_on or not jobs:
                return self._calibrating
            self._calibrating = Calibrating(
                state="calibrating", sentence="The calibration begins."
            )
            threading.Thread(
                target=self._calibrate, args=(asked,), name="smtc-calibrate", daemon=True
            ).start()
        return self._calibrating

    def stop(self) -> None:
        """Ask it to end; nothing of it is kept. Where nothing goes on, nothing changes."""
        with self._lock:
            if self._calibrating.state != "calibrating":
                return
            self._calibrating = Calibrating(
                state="stopping",
                sentence="The calibration is being stopped.",
                launch=self._calibrating.launch,
                launches=self._calibrating.launches,
            )
            self._end_lifeline()
        self._call()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a listener, from a thread, at each change from now on."""
        with self._lock:
            if listener not in self._listeners:
                self._listeners.append(listener)

    def ignore(self, listener: Callable[[], None]) -> None:
        """Call a listener no longer."""
        with self._lock:
            self._listeners = [each for each in self._listeners if each != listener]

    def _calibrate(self, asked: dict[str, Any]) -> None:
        last = f"The calibration ended without a word. Run {_PROGRAM} by hand to see why."
        try:
            process = subprocess.Popen(  # noqa: S603  our own module, no shell
                [sys.executable, "-m", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # an interrupt of this process is none of it
            )
        except OSError as error:
            self._tell(Calibrating(state="failed", sentence=f"{error}. Try again."))
            return
        told: dict[str, Any] = {}
        with process:
            assert process.stdin is not None  # noqa: S101  it is a pipe
            assert process.stdout is not None  # noqa: S101  as above
            with contextlib.suppress(OSError):  # it has ended; its words say why
                process.stdin.write(json.dumps(asked).encode() + b"\n")
                process.stdin.flush()
            with self._lock:
                self._process = process
                if self._calibrating.state == "stopping":
                    self._end_lifeline()
            for line in process.stdout:
                told = _message(line)
                last = last if told else neutral(line.decode(errors="replace").strip() or last)
                if "launch" in told:
                    self._on_progress(told)
            with self._lock:
                self._end_lifeline()
                self._process = None
        self._tell(_ended(told, last))

    def _end_lifeline(self) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()

    def _on_progress(self, told: dict[str, Any]) -> None:
        with self._lock:
            if self._calibrating.state != "calibrating":
                return
            self._calibrating = Calibrating(
                state="calibrating",
                sentence=str(told.get("sentence", ""))[:_LONGEST],
                launch=int(told["launch"]),
                launches=int(told.get("launches", 0)),
            )
        self._call()

    def _tell(self, calibrating: Calibrating) -> None:
        with self._lock:
            self._calibrating = calibrating
        self._call()

    def _call(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()


def _message(line: bytes) -> dict[str, Any]:
    """Return what the process says; empty: it is no message, but a last word of Python."""
    try:
        told = json.loads(line)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _ended(told: dict[str, Any], last: str) -> Calibrating:
    """Return how it ended, from its last message, or from its last words."""
    state, sentence = told.get("end"), str(told.get("sentence", ""))[:_LONGEST]
    if state == "done":
        return Calibrating(state="done", sentence=sentence)
    if state == "stopped":
        return Calibrating(state="stopped", sentence=sentence)
    if state == "failed":
        return Calibrating(state="failed", sentence=sentence)
    return Calibrating(
        state="failed",
        sentence=f"The calibration failed: {last[-_LONGEST:]} Mend that, and calibrate again.",
    )


CALIBRATOR = Calibrator()
"""The one of this process."""
