"""An error that a notebook shows in one line."""

from __future__ import annotations

from IPython.core.error import UsageError


class CellError(UsageError):
    """What was typed is refused, or what it started failed.

    IPython prints a plain ``UsageError`` to standard error only, and a notebook that papermill
    runs would not keep the reason. This one is an error of its cell, in one line.
    """

    def _render_traceback_(self) -> list[str]:
        return [f"UsageError: {self}"]
