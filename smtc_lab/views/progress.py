"""How far a comparison is: one line that moves in a terminal, a line a launch elsewhere.

A notebook shows standard error in red, as if something were wrong: there it is printed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from smtc_lab.display import in_notebook
from smtc_lab.views.text.format import plain

if TYPE_CHECKING:
    from smtc_lab.study.watched_run import Progress

_BETWEEN_LINES_S = 10.0
_NAME_COLUMNS = 40


class ProgressLine:
    """Shows progress on standard error; in a notebook, on standard output."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._to = sys.stdout if in_notebook() else sys.stderr
        self._moves = self._to.isatty()
        self._launch = 0
        self._shown_s = 0.0
        self._note = ""

    def show(self, progress: Progress) -> None:
        """Show where the comparison stands; once, on a line of its own, what decides it."""
        if progress.note != self._note:
            self._note = progress.note
            begin = "\r\033[K" if self._moves and not self._quiet else ""
            print(f"{begin}{plain(self._note)}", file=self._to, flush=True)
        if self._quiet:
            return
        if self._moves:
            print(f"\r\033[K{progress_text(progress)}", end="", file=self._to, flush=True)
            return
        if (
            progress.launch == self._launch
            and progress.elapsed_s - self._shown_s < _BETWEEN_LINES_S
        ):
            return
        self._launch, self._shown_s = progress.launch, progress.elapsed_s
        print(progress_text(progress), file=self._to, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._moves and not self._quiet:
            print(file=self._to)


def progress_text(progress: Progress) -> str:
    """Return where a comparison stands, in one line that a terminal does not obey."""
    steps = f"{progress.steps}"
    if progress.max_steps is not None:
        steps += f" of {progress.max_steps}"
    mean = (
        "starting"
        if progress.mean_step_time_s is None
        else f"step {steps}, {progress.mean_step_time_s:.3f} s/step"
    )
    return (
        f"launch {progress.launch} of {progress.launches}: "
        f"{plain(progress.cluster, _NAME_COLUMNS)}, {mean} "
        f"({progress.elapsed_s:.0f} s)"
    )
