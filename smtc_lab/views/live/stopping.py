"""Stops something from a view, which must not wait for its end."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError

if TYPE_CHECKING:
    from collections.abc import Callable


def stop_soon(
    what: str, stop: Callable[[], object], *, on_problem: Callable[[str], None]
) -> None:
    """Stop something in a thread: the death of its last process takes a moment.

    Args:
        what: ``run`` or ``comparison``, for people.
        stop: Stops it, and waits for its end.
        on_problem: Called with what to tell, from the thread, when it could not be stopped.
    """

    def stop_or_tell() -> None:
        try:
            stop()
        except (SmtcLabError, OSError) as error:
            on_problem(f"The {what} could not be stopped: {error}")

    threading.Thread(target=stop_or_tell, name="smtc-stop", daemon=True).start()
