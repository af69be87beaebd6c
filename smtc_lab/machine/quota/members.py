"""Puts the processes that a trainer starts under the CPU quota that it is not under itself."""

from __future__ import annotations

import multiprocessing.process
import os
from contextlib import suppress
from typing import Any

from smtc_lab.machine.quota.cgroups import write_existing

MEMBERS_VARIABLE = "SMTC_CPU_QUOTA_MEMBERS"
"""Files that take the number of a process in and so put it under the quota, as in ``PATH``;
unset: nothing is to be done."""

QUOTA_VARIABLE = "SMTC_CPU_QUOTA_CORES"
"""Cores of that quota, for a process that is not under it itself; unset: it is, or has none."""


def limit_children() -> None:
    """Put each process that ``multiprocessing`` starts from now on under the quota.

    Data workers are started so, by whatever method, and so are pools.
    """
    files = list(filter(None, os.environ.get(MEMBERS_VARIABLE, "").split(os.pathsep)))
    if not files:
        return
    every_process: Any = multiprocessing.process.BaseProcess
    plain = every_process.start

    def start(process: Any) -> None:  # noqa: ANN401  of any start method
        plain(process)
        for file in files:
            with suppress(OSError):  # it has ended already
                write_existing(file, str(process.pid))

    every_process.start = start
