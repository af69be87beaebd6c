"""The attempts of a run, as ``state.json`` has them."""

from __future__ import annotations

from typing import Any

from smtc_lab.machine.stored_text import text_of, time_of
from smtc_lab.metrics.records.attempts import Attempt

MOST_ATTEMPTS = 100_000
"""Attempts that are read of a run, at most."""


def attempts_of(values: dict[str, Any]) -> tuple[Attempt, ...]:
    """Take the attempts out of what ``state.json`` holds.

    Raises:
        ValueError: They are none.
    """
    given = values.pop("attempts", [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise ValueError("its attempts are no list of JSON objects")
    return tuple(map(_attempt, given[:MOST_ATTEMPTS]))


def _attempt(values: dict[str, Any]) -> Attempt:
    values = dict(values)
    started_s = time_of(values, "started_s")
    if started_s is None:
        raise ValueError("one of its attempts has no begin")
    return Attempt(
        started_s=started_s,
        stepping_s=time_of(values, "stepping_s"),
        ended_s=time_of(values, "ended_s"),
        interrupted_by=text_of(values, "interrupted_by"),
    )
