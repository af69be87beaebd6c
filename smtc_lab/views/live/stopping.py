"""Stops, interrupts or resumes something from a view, which must not wait for that."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal

from smtc_lab.errors import SmtcLabError

if TYPE_CHECKING:
    from collections.abc import Callable


def soon(
    what: str,
    done: Literal["stopped", "interrupted", "resumed"],
    act: Callable[[], object],
    *,
    on_problem: Callable[[str], None],
) -> None:
    """Do something in a thread: the death of a last process takes a moment.

    Args:
        what: ``run`` or ``comparison``, for people.
        done: What becomes of it.
        act: Does it, and waits until it is done.
        on_problem: Called with what to tell, from the thread, when it could not be done.
    """

    def act_or_tell() -> None:
        try:
            act()
        except (SmtcLabError, OSError) as error:
            on_problem(f"The {what} could not be {done}: {error}")

    threading.Thread(target=act_or_tell, name=f"smtc-{done}", daemon=True).start()
