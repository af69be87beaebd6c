"""Watches something in a thread of its own, and tells what is new until it has ended."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from typing_extensions import TypedDict

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.stream import FRAMES_PER_S, Send, Stream
from smtc_lab.neutral_text import neutral

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.follow.frames import Frame

_log = logging.getLogger(__name__)

BEAT_S = 2.0
"""Time between two signs of life, also when nothing happens."""

_AFTER_PROBLEM_S = 2.0
_LONGEST = 300
_UNEXPECTED = (
    "This view met a defect of smtc_lab ({}) and shows what it knew before. What it shows "
    "goes on, and is looked at again every few seconds. Please report what the server's log, "
    "or the notebook's, says of it."
)


class Audience(Protocol):
    """Whom a watch tells; always from its thread."""

    def on_values(self, values: Mapping[str, Any]) -> None:
        """Take named values that changed, ``info`` or ``beat`` say, as a browser reads them."""

    def on_end(self) -> None:
        """Take note that it has ended and everything of it was told. Once."""


class RowReader(Protocol):
    """Reads what is watched."""

    def read(self, table: str, first: int, end: int, most: int) -> Frame | None:
        """Return rows that a browser asked for in more detail; None: nobody keeps them.

        Raises:
            SmtcLabError: They cannot be read.
        """
        ...


class Describer(Protocol):
    """Says what is watched."""

    def elapsed_s(self) -> float | None:
        """Return how long it has lasted in seconds; None: it has not begun."""
        ...


class BeatInfo(TypedDict):
    """A sign of life."""

    number: int
    """Rises with each."""

    elapsed_s: float | None
    """How long what is watched has lasted, in seconds; None: it has not begun."""


class Watch(ABC):
    """Follows something, also of another process, ended or not.

    Args:
        send: Called with the content and the buffers of each message about its tables; None:
            those who join its stream are told.
        audience: Whom it tells everything else.
        name: What its thread is called.
    """

    _follower: RowReader
    _describer: Describer
    _has_ended: bool
    """Whether it has ended, and the last look has seen all of it."""

    def __init__(self, send: Send | None, audience: Audience, *, name: str) -> None:
        self.stream = Stream(send, read=self._read_safely)
        """Its tables."""
        self.pause_s = 1 / FRAMES_PER_S
        """Least time from the begin of a look to that of the next one."""
        self._has_ended = False
        self._audience = audience
        self._closing = threading.Event()
        self._unexpected = ""
        self._beats = 0
        self._beat_s = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def first(self) -> dict[str, Any]:
        """Return the values that there are before ``start``."""
        return {**self._first(), "beat": self._beat()}

    def start(self) -> None:
        """Begin to watch, in a thread."""
        self._thread.start()

    def answer(self, message: Mapping[str, Any], *, to: Send | None = None) -> bool:
        """Answer a message of a browser; False: it is not about tables."""
        return self.stream.answer(message, to=to)

    def close(self) -> None:
        """End the thread, soon. Safe to call twice, and from the thread itself."""
        self._closing.set()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until the watch has told the end of what it watches; False: not yet."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @abstractmethod
    def _first(self) -> dict[str, Any]:
        """Return the values that there are before the first look."""

    @abstractmethod
    def _look(self) -> dict[str, Any]:
        """Look once, send the new rows, and return the values that changed.

        Raises:
            SmtcLabError: A part of it cannot be read.
            OSError: The front end is gone.
        """

    @abstractmethod
    def _look_past(self, problem: str) -> dict[str, Any]:
        """Return the values that changed when a part of it cannot be read, and why."""

    def _read_safely(self, table: str, first: int, end: int, most: int) -> Frame | None:
        try:
            return self._follower.read(table, first, end, most)
        except SmtcLabError:  # the watch itself tells what is wrong
            return None

    def _run(self) -> None:
        is_over = False
        while not is_over and not self._closing.is_set():
            begin_s = time.monotonic()
            values: dict[str, Any] = {}
            pause_s = self.pause_s
            try:
                values = self._look()
            except SmtcLabError as error:
                values = self._look_past(str(error))
                pause_s = _AFTER_PROBLEM_S
            except OSError:  # the front end is gone; a new one asks for everything
                pause_s = _AFTER_PROBLEM_S
            except Exception as error:  # noqa: BLE001  else the view would say Running for ever
                values = self._tell_unexpected(error)
                pause_s = _AFTER_PROBLEM_S
            is_over = self._has_ended
            if is_over or begin_s - self._beat_s >= BEAT_S:
                self._beat_s = begin_s
                values["beat"] = self._beat()
            if values:
                self._audience.on_values(values)
            if not is_over:
                self._closing.wait(max(0.0, pause_s - (time.monotonic() - begin_s)))
        with contextlib.suppress(OSError):
            self.stream.close()
        if is_over:
            self._audience.on_end()

    def _tell_unexpected(self, error: Exception) -> dict[str, Any]:
        """Return what changed when it met a defect of ours; its traceback is logged once."""
        what = f"{type(error).__name__}: {neutral(str(error), longest=_LONGEST)}"
        if what != self._unexpected:
            self._unexpected = what
            _log.error("A view of a run or a study cannot look at it.", exc_info=error)
        try:
            return self._look_past(_UNEXPECTED.format(what))
        except Exception as another:  # noqa: BLE001  as for the look
            _log.error("Nor can it say so.", exc_info=another)
            return {}

    def _beat(self) -> BeatInfo:
        self._beats += 1
        return {"number": self._beats, "elapsed_s": self._describer.elapsed_s()}
