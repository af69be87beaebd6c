"""Makes the environment of XLA in a thread, once for all views of a process."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments import make
from smtc_lab.machine.environments.named import XLA

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True)
class Making:
    """How far the environment of XLA is."""

    state: Literal["idle", "making", "done", "failed"] = "idle"
    """``idle``: nobody asked for it in this process."""

    sentence: str = ""
    """What is being done, or why it failed; empty: there is nothing to say."""


class XlaMaker:
    """Makes the environment of XLA when it is asked to. May be used by several threads.

    While it is being made, asking again changes nothing. Another process that makes it at the
    same time is waited for, and what it made is taken.
    """

    def __init__(self) -> None:
        self._making = Making()
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def making(self) -> Making:
        """How far it is."""
        return self._making

    def start(self) -> Making:
        """Begin to make it, and return at once how far it is."""
        with self._lock:
            if self._making.state != "making":
                self._making = Making(
                    state="making", sentence=f"Making the environment {XLA!r}."
                )
                threading.Thread(target=self._make, name="smtc-make-xla", daemon=True).start()
        return self._making

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a listener, from a thread, at each change until it is made or has failed."""
        with self._lock:
            if self._making.state == "making" and listener not in self._listeners:
                self._listeners.append(listener)

    def ignore(self, listener: Callable[[], None]) -> None:
        """Call a listener no longer."""
        with self._lock:
            self._listeners = [each for each in self._listeners if each != listener]

    def _make(self) -> None:
        try:
            make.make_environment(XLA, say=lambda text: self._tell("making", text))
        except PythonEnvironmentError as error:
            self._tell("failed", str(error))
        except Exception as error:  # whatever it is, a view must not wait for ever
            self._tell("failed", f"Making the environment failed: {error!r}. Try again.")
            raise
        else:
            self._tell("done", f"The environment {XLA!r} is ready.")

    def _tell(self, state: Literal["making", "done", "failed"], sentence: str) -> None:
        with self._lock:
            self._making = Making(state=state, sentence=sentence)
            listeners = list(self._listeners)
            if state != "making":
                self._listeners = []
        for listener in listeners:
            listener()


XLA_MAKER = XlaMaker()
"""The one of this process."""
