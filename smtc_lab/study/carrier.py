"""The process that carries out a study."""

from __future__ import annotations

from typing import Any, NamedTuple

from smtc_lab.machine.processes import start_ticks
from smtc_lab.machine.stored_text import whole_of


class Carrier(NamedTuple):
    """The process that carries out a study."""

    pid: int
    """Its number."""

    start_ticks: int | None
    """Its start time, which tells it from a later process of that number; None: it was gone
    at once."""

    is_callers: bool = False
    """Whether it is the one that asked for the study, which does other things too: it is sent
    no signal, and may live on after the study."""

    @property
    def is_alive(self) -> bool:
        """Whether it lives."""
        return self.start_ticks is not None and start_ticks(self.pid) == self.start_ticks


def carrier_of(values: dict[str, Any]) -> Carrier | None:
    """Return the process that a study's ``process.json`` names; None: none.

    Raises:
        ValueError: A value is none of a process.
    """
    # 0 and -1 are whole groups of processes, and 1 carries out no study
    pid = whole_of(values, "pid", least=2, most=2**31 - 1)
    ticks = whole_of(values, "start_ticks", least=0)
    is_callers = values.get("is_callers") is True
    return None if pid is None else Carrier(pid, ticks, is_callers=is_callers)
