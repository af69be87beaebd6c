"""How this process was started, so that its script can be started again as it was."""

from __future__ import annotations

import os
import sys
import time

from smtc_lab.instance.variables import SERVED_VARIABLE
from smtc_lab.machine.processes import die_with_parent


class Started:
    """What a process was given, before its script changed any of it."""

    def __init__(self, script: str, arguments: list[str]) -> None:
        self.command = ["-m", "smtc_lab.runtime.run_script", script, *arguments]
        """What its interpreter was told."""

        self.folder = os.getcwd()  # noqa: PTH109  pathlib costs the start 10 ms
        """Where it began."""

        self.environment = dict(os.environ)
        """Its variables."""

        self.began_s = time.perf_counter()
        """When it began, on the clock of ``time.perf_counter``."""


class _Here:
    started: Started | None = None


def note_start(script: str, arguments: list[str]) -> None:
    """Keep how this process was started; before the script begins."""
    _Here.started = Started(script, arguments)
    if SERVED_VARIABLE in os.environ:
        die_with_parent()
        if os.getppid() != served_for()[1]:
            sys.exit(1)  # it ended before that


def started() -> Started | None:
    """Return how this process was started; None: nobody kept it."""
    return _Here.started


def served_for() -> tuple[int, int]:
    """Return the descriptor of the socket to the parent, and the parent's number."""
    descriptor, parent = os.environ[SERVED_VARIABLE].split()
    return int(descriptor), int(parent)
