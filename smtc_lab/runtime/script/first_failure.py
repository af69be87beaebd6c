"""What ended a thread of the script, before the script itself ended over its absence."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from smtc_lab.runtime.instance_runtime import StepsDone

if TYPE_CHECKING:
    from collections.abc import Callable


class _First:
    error: BaseException | None = None


def note_thread_failures() -> None:
    """Keep the first exception that ends a thread of this process."""
    plain: Callable[[threading.ExceptHookArgs], object] = threading.excepthook

    def note(said: threading.ExceptHookArgs) -> None:
        if issubclass(said.exc_type, StepsDone):  # no failure
            return
        if _First.error is None and issubclass(said.exc_type, Exception):
            _First.error = said.exc_value
        plain(said)

    threading.excepthook = note


def first_failure() -> BaseException | None:
    """Return the exception that was the first to end a thread; None: none did."""
    return _First.error
